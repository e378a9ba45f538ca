/** A failure that a tool foresees: `code` is for programs, the message is for the model. */
export class ToolError extends Error {
  override readonly name: string = 'ToolError';

  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

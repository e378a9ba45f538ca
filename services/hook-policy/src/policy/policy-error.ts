/** An evaluation that failed in a way the policy can name; `code` goes into the reply. */
export class PolicyError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
    this.name = 'PolicyError';
  }
}

/** The command was given something that it cannot work with. The message says what is wrong and what to do. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** An evaluation that failed in a way the policy can name; `code` goes into the reply. */
export class PolicyError extends Error {
  constructor(
    readonly code: string,
    message: string,
    /** The same in the words of a `hook.result`: `exit 1`, `HTTP 500`. */
    readonly status: string = code,
  ) {
    super(message);
    this.name = 'PolicyError';
  }
}

/** The person stopped waiting before the turn had ended. */
export class InterruptedError extends Error {
  override readonly name = 'InterruptedError';
  constructor(session: string) {
    super(`Stopped waiting. Nothing of session ${session} is lost: it goes on as soon as its services run again.`);
  }
}

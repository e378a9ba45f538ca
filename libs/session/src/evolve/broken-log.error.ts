/** An event that cannot follow the state: the log is damaged, or was written by a build with other rules. */
export class BrokenLogError extends Error {
  override readonly name = 'BrokenLogError';
  constructor(event: { sequence: number; type: string }, problem: string) {
    super(`event ${event.sequence} ${event.type}: ${problem}`);
  }
}

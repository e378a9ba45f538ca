/** The command needs running services, and there are none. The message says how to get them. */
export class ServicesNotRunningError extends Error {
  override readonly name = 'ServicesNotRunningError';
}

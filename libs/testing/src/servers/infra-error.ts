/** A server cannot be had or does not start. The message names what to do. */
export class InfraError extends Error {
  override readonly name = 'InfraError';
}

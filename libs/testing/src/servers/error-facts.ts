// Not `instanceof Error`: an error of Node's own modules belongs to another realm inside a test process.

/** The code of a system error, such as `EEXIST`. */
export function errorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** What an error says. */
export function errorMessage(error: unknown): string {
  const isError = typeof error === 'object' && error !== null && 'message' in error;
  return isError && typeof error.message === 'string' ? error.message : String(error);
}

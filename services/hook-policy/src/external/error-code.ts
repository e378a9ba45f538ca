/** The code of a system error (`ECONNREFUSED`), by its shape: it may be of another realm than ours. */
export function errorCode(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error) return String(error.code);
  return error instanceof Error ? error.message : String(error);
}

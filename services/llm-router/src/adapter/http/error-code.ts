/** What broke, in one word: an error's code, its cause's, or its name. The words of an error may hold a request. */
export function codeOf(error: unknown): string {
  if (typeof error !== 'object' || error === null) return 'unknown';
  if ('code' in error && typeof error.code === 'string') return error.code;
  if ('cause' in error && error.cause !== undefined) return codeOf(error.cause);
  return 'name' in error && typeof error.name === 'string' ? error.name : 'unknown';
}

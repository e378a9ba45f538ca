/** What a promise gives within so many milliseconds; undefined when it takes longer. */
export async function within<T>(milliseconds: number, promise: Promise<T>): Promise<T | undefined> {
  const late = Promise.withResolvers<undefined>();
  const timer = setTimeout(late.resolve, milliseconds, undefined);
  try {
    return await Promise.race([promise, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

const tails = new Map<string, Promise<unknown>>();

/** Runs the work on one file one after the other: two edits of a step must not overwrite each other. `file` is a resolved path. */
export async function withFileLock<T>(file: string, work: () => Promise<T>): Promise<T> {
  const before = tails.get(file) ?? Promise.resolve();
  const run = before.then(work);
  // The next in line waits for the end of this one, not for its success.
  const tail = run.then(
    () => undefined,
    () => undefined,
  );
  tails.set(file, tail);
  try {
    return await run;
  } finally {
    if (tails.get(file) === tail) tails.delete(file);
  }
}

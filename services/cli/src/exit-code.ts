/** What the command's exit code says. */
export const EXIT = {
  /** Done; for `run`: the turn completed. */
  completed: 0,
  /** The turn ended in another way: aborted, rejected, an error of the model, a limit. */
  otherEnd: 1,
  /** What was asked for cannot be done as it was asked: the message says what to change. */
  usage: 2,
  /** A server cannot be had or does not answer, or something unforeseen failed. */
  infrastructure: 3,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

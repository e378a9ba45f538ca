/** One word of a command line after quote removal. */
export interface Word {
  /** What the program would get, as far as it is known without running anything. */
  readonly text: string;
  /** As written, without continued lines: tells keywords and assignments from quoted words. */
  readonly raw: string;
  /** Expansion, glob or braces: only the shell will know what it becomes. */
  readonly opaque: boolean;
}

/** A command line that says only at run time what it will do. A rule with a command list does not let it pass. */
export class UnanalysableError extends Error {
  constructor(readonly reason: string) {
    super(`the command line cannot be analysed: ${reason}`);
    this.name = 'UnanalysableError';
  }
}

/** A glob of file names and nothing else: it may become several words, but none of them an option. */
export const isFileGlob = (word: Word): boolean => /^[\w.*?/][\w.*?/-]*$/.test(word.raw);

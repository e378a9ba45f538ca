import { matchesGlob } from '@jetloop/contracts';
import { analyseCommand, type Invocation } from './analyse-command.js';
import { isFileGlob, UnanalysableError, type Word } from './word.js';

const systemFolders = new Set(['/bin/', '/usr/bin/', '/usr/local/bin/', '/sbin/', '/usr/sbin/', '/opt/homebrew/bin/']);

/**
 * Whether a command line would run one of the entries (`rm`, `git push`, `mkfs*`); what it found, for the reason, or undefined.
 * What cannot be analysed counts as found.
 */
export function findListed(line: string, entries: readonly string[]): string | undefined {
  return search(line, (invocation) => {
    const entry = entries.find((candidate) => runsEntry(invocation, candidate));
    return entry && `runs ${entry}`;
  });
}

/** Whether a command line would run anything but the entries; what it found, or undefined. */
export function findUnlisted(line: string, entries: readonly string[]): string | undefined {
  return search(line, (invocation) => {
    if (invocation.assigned.includes('PATH')) return 'sets PATH for a command';
    return entries.some((entry) => isEntry(invocation, entry)) ? undefined : `runs ${invocation.program}`;
  });
}

function search(line: string, check: (invocation: Invocation) => string | undefined): string | undefined {
  try {
    for (const invocation of analyseCommand(line)) {
      const found = check(invocation);
      if (found) return found;
    }
    return undefined;
  } catch (error) {
    if (error instanceof UnanalysableError) return `cannot be analysed: ${error.reason}`;
    throw error;
  }
}

const split = (entry: string): string[] => entry.trim().split(/\s+/);

/** A denied entry: any path, any case, and options may stand between its words. */
function runsEntry(invocation: Invocation, entry: string): boolean {
  const [program = '', ...rest] = split(entry);
  if (!matchesGlob(program.toLowerCase(), invocation.name.toLowerCase())) return false;
  const options = rest.filter((word) => word.startsWith('-'));
  const words = rest.filter((word) => !word.startsWith('-'));
  return options.every((option) => hasOption(invocation.words, option)) && hasWords(invocation.words, words);
}

function hasOption(words: readonly Word[], option: string): boolean {
  if (words.some((word) => word.opaque || word.text === option || word.text.startsWith(`${option}=`))) return true;
  if (!/^-[A-Za-z0-9]+$/.test(option)) return false;
  const letters = words.flatMap((word) => (/^-[^-]/.test(word.text) ? (word.text.slice(1).match(/./gu) ?? []) : []));
  return (option.slice(1).match(/./gu) ?? []).every((letter) => letters.includes(letter));
}

/**
 * The subcommand words, in order. A word that is neither an option nor maybe an option's value settles what the subcommand is:
 * `git stash push` is no `git push`, `git -C x push` is one.
 */
function hasWords(words: readonly Word[], wanted: readonly string[]): boolean {
  let next = 0;
  let afterOption = false;
  for (const word of words) {
    const expected = wanted[next];
    if (expected === undefined) return true;
    if (word.opaque) {
      if (couldBe(word, expected)) return true;
      afterOption = false;
    } else if (word.text.startsWith('-')) afterOption = true;
    else if (matchesGlob(expected.toLowerCase(), word.text.toLowerCase())) {
      next++;
      afterOption = false;
    } else {
      if (!afterOption) return false;
      afterOption = false;
    }
  }
  return next >= wanted.length;
}

/** Whether an expansion may become the word. Only for a plain glob is it known that it cannot. */
function couldBe(word: Word, expected: string): boolean {
  return !isFileGlob(word) || matchesGlob(word.raw, expected);
}

/** An allowed entry: the program by its bare name or from a system folder, and its words right behind it. */
function isEntry(invocation: Invocation, entry: string): boolean {
  const [program = '', ...rest] = split(entry);
  if (/(?:^|\/)\.\.?(?:\/|$)/.test(invocation.program) && invocation.program !== program && invocation.program !== '.')
    return false;
  const folder = invocation.program.slice(0, invocation.program.length - invocation.name.length);
  const named = folder === '' || systemFolders.has(folder) ? invocation.name : invocation.program;
  if (!matchesGlob(program, program.includes('/') ? invocation.program : named)) return false;
  return rest.every((expected, i) => {
    const word = invocation.words[i];
    return word !== undefined && !word.opaque && matchesGlob(expected, word.text);
  });
}

import { UnanalysableError, type Word } from './word.js';

/** Options of a program that runs the rest of its words. Options that are not listed make a line unanalysable. */
interface Wrapper {
  /** Letters of short options without and with a value. */
  flags: string;
  values: string;
  longFlags?: readonly string[];
  longValues?: readonly string[];
  /** Words between the options and the command (the duration of `timeout`). */
  skip?: number;
  /** `NAME=value` may stand before the command. */
  assignments?: boolean;
}

const bare: Wrapper = { flags: '', values: '' };

const wrappers: Readonly<Record<string, Wrapper>> = {
  sudo: {
    flags: 'AbEHknPSB',
    values: 'ugphCrtTUDR',
    longFlags: ['askpass', 'background', 'preserve-env', 'set-home', 'non-interactive', 'stdin', 'preserve-groups'],
    longValues: ['user', 'group', 'prompt', 'host', 'chdir', 'role', 'type', 'command-timeout', 'other-user', 'chroot'],
    assignments: true,
  },
  doas: { flags: 'n', values: 'Cu', assignments: true },
  env: {
    flags: 'i0v',
    values: 'uC',
    longFlags: ['ignore-environment', 'null', 'debug'],
    longValues: ['unset', 'chdir'],
    assignments: true,
  },
  command: { flags: 'pvV', values: '' },
  builtin: bare,
  exec: { flags: 'cl', values: 'a' },
  nohup: bare,
  time: {
    flags: 'apvqV',
    values: 'fo',
    longFlags: ['portability', 'append', 'verbose', 'quiet'],
    longValues: ['format', 'output'],
  },
  nice: { flags: '0123456789', values: 'n', longValues: ['adjustment'] },
  ionice: { flags: 't', values: 'cn', longFlags: ['ignore'], longValues: ['class', 'classdata'] },
  timeout: {
    flags: 'v',
    values: 'ks',
    longFlags: ['preserve-status', 'foreground', 'verbose'],
    longValues: ['kill-after', 'signal'],
    skip: 1,
  },
  stdbuf: { flags: '', values: 'ioe', longValues: ['input', 'output', 'error'] },
  setsid: { flags: 'cfw', values: '', longFlags: ['ctty', 'fork', 'wait'] },
  xargs: {
    flags: '0rtpxo',
    values: 'nPILsdEa',
    longFlags: ['null', 'no-run-if-empty', 'verbose', 'exit', 'open-tty'],
    longValues: ['max-args', 'max-procs', 'max-lines', 'max-chars', 'delimiter', 'arg-file'],
  },
  busybox: bare,
  toybox: bare,
  chronic: bare,
};

/**
 * What a wrapper would run: its words without the wrapper's own options and, for `xargs`, with what it will add.
 * Undefined when the program is no wrapper, an empty list when it runs nothing.
 */
export function unwrap(name: string, words: readonly Word[]): Word[] | undefined {
  const wrapper = Object.hasOwn(wrappers, name) ? wrappers[name] : undefined;
  if (!wrapper) return undefined;
  let at = 0;
  let replaced: string | undefined;
  while (at < words.length) {
    const word = words[at];
    if (!word) break;
    if (word.opaque) throw new UnanalysableError(`what ${name} runs`);
    const { text } = word;
    if (text === '--') {
      at++;
      break;
    }
    if (text === '-' && name === 'env') at++;
    else if (text.startsWith('--')) {
      const used = longOption(name, wrapper, text);
      if (used > 1 && words[at + 1]?.opaque) throw new UnanalysableError(`what ${name} runs`);
      at += used;
    } else if (text.startsWith('-') && text.length > 1) {
      const { used, option, attached } = shortOptions(name, wrapper, text);
      if (name === 'xargs' && option === 'I') replaced = attached || words[at + 1]?.text;
      if (used > 1 && words[at + 1]?.opaque) throw new UnanalysableError(`what ${name} runs`);
      // `command -v rm` only looks it up.
      if (name === 'command' && /[vV]/.test(text)) return [];
      at += used;
    } else if (wrapper.assignments && /^[A-Za-z_]\w*=/.test(text)) {
      refuseAssignment(text);
      at++;
    } else break;
  }
  for (const end = at + (wrapper.skip ?? 0); at < end; at++) {
    if (words[at]?.opaque) throw new UnanalysableError(`what ${name} runs`);
  }
  if (wrapper.assignments) at += countAssignments(words.slice(at));
  const inner = words.slice(at);
  if (name !== 'xargs' || inner.length === 0) return inner;
  if (replaced === undefined) return [...inner, { text: '', raw: '', opaque: true }];
  return replaceToken(inner, replaced);
}

/** Assignments behind `--`; one that an expansion makes may become anything, so it is left for a command. */
function countAssignments(words: readonly Word[]): number {
  const end = words.findIndex((word) => word.opaque || !/^[A-Za-z_]\w*=/.test(word.text));
  const assignments = end < 0 ? words : words.slice(0, end);
  for (const word of assignments) refuseAssignment(word.text);
  return assignments.length;
}

/** Words as they are once a token in them is replaced by what nobody knows yet. */
export const replaceToken = (words: readonly Word[], token: string): Word[] =>
  words.map((word) => (word.text.includes(token) ? { ...word, opaque: true } : word));

function longOption(name: string, wrapper: Wrapper, text: string): number {
  const [option = '', value] = text.slice(2).split('=', 2);
  if (wrapper.longValues?.includes(option)) return value === undefined ? 2 : 1;
  if (wrapper.longFlags?.includes(option)) return 1;
  throw new UnanalysableError(`the option ${text} of ${name}`);
}

function shortOptions(
  name: string,
  wrapper: Wrapper,
  text: string,
): { used: number; option: string; attached: string } {
  for (let i = 1; i < text.length; i++) {
    const option = text.charAt(i);
    if (wrapper.values.includes(option)) {
      const attached = text.slice(i + 1);
      return { used: attached === '' ? 2 : 1, option, attached };
    }
    if (!wrapper.flags.includes(option)) throw new UnanalysableError(`the option ${text} of ${name}`);
  }
  return { used: 1, option: '', attached: '' };
}

const runsCode =
  /^(?:LD_\w+|DYLD_\w+|BASH_\w+|ENV|IFS|PROMPT_COMMAND|PS4|SHELLOPTS|\w*PAGER|\w*EDITOR|VISUAL|BROWSER|GIT_\w+|\w+_COMMAND|NODE_OPTIONS|PYTHONSTARTUP|PYTHONPATH|PERL5OPT|PERL5LIB|RUBYOPT|RUBYLIB)$/;

/** Refuses an assignment by which another program would run, or words would be split otherwise. */
export function refuseAssignment(text: string): void {
  const variable = text.split(/[=+[]/, 1)[0] ?? '';
  if (runsCode.test(variable)) throw new UnanalysableError(`an assignment to ${variable}`);
  if (/\$\(|`/.test(text)) throw new UnanalysableError('code in the value of a variable');
}

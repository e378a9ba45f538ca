import { refuseHiddenCode } from './interpreters.js';
import { ShellReader } from './shell-reader.js';
import { isFileGlob, UnanalysableError, type Word } from './word.js';
import { refuseAssignment, replaceToken, unwrap } from './wrappers.js';

/** One program that a command line would run. */
export interface Invocation {
  /** As written: `/bin/rm`. */
  readonly program: string;
  /** Its last part: `rm`. */
  readonly name: string;
  readonly words: readonly Word[];
  /** Variables set for it alone. */
  readonly assigned: readonly string[];
}

const MAX_DEPTH = 10;
const assignment = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/;
/** After these a command follows. */
const leading = new Set(['!', '{', '}', 'if', 'then', 'elif', 'else', 'fi', 'while', 'until', 'do', 'done', 'esac']);
const shells = new Set(['sh', 'bash', 'rbash', 'dash', 'ash', 'zsh', 'ksh', 'mksh', 'fish', 'csh', 'tcsh']);

/**
 * The programs that a bash command line would run, the ones behind wrappers (`sudo`, `env`, `xargs`), inside `bash -c` and in
 * substitutions too, in the order in which they are found.
 * @throws UnanalysableError when only the run could tell
 */
export function analyseCommand(line: string): Invocation[] {
  const found: Invocation[] = [];
  readLine(line, 0, found);
  return found;
}

function readLine(line: string, depth: number, found: Invocation[]): void {
  if (depth > MAX_DEPTH) throw new UnanalysableError(`more than ${MAX_DEPTH} shells in each other`);
  for (const words of new ShellReader(line).read()) readSimple(words, depth, found);
}

function readSimple(words: readonly Word[], depth: number, found: Invocation[]): void {
  let at = 0;
  for (let word = words[at]; word && isKeyword(word); word = words[at]) at = afterKeyword(words, at);
  const assigned: string[] = [];
  for (let word = words[at]; word; word = words[++at]) {
    const name = assignment.exec(word.raw)?.[1];
    if (name === undefined) break;
    refuseAssignment(word.opaque ? `${name}=` : word.text);
    if (/\$\(|`/.test(word.text)) throw new UnanalysableError('code in the value of a variable');
    assigned.push(name);
  }
  const rest = words.slice(at);
  // Holds for every later command of the line: an allowlist of names means nothing then.
  if (rest.length === 0 && assigned.includes('PATH'))
    found.push({ program: 'PATH=', name: 'PATH=', words: [], assigned });
  readInvocation(rest, depth, found, assigned);
}

const isKeyword = (word: Word): boolean =>
  leading.has(word.raw) || ['for', 'select', 'function', 'case', 'coproc'].includes(word.raw);

function afterKeyword(words: readonly Word[], at: number): number {
  const keyword = words[at]?.raw ?? '';
  if (leading.has(keyword)) return at + 1;
  if (keyword === 'function') return at + 2;
  if (keyword === 'for' || keyword === 'select') {
    const after = words[at + 2]?.raw;
    // `for x do …` and `for x { …` begin their body in the same line; `for x in …` does after the next separator.
    return after === 'do' || after === '{' ? at + 3 : words.length;
  }
  throw new UnanalysableError(`the keyword ${keyword}`);
}

function readInvocation(words: readonly Word[], depth: number, found: Invocation[], assigned: readonly string[]): void {
  const [command, ...rest] = words;
  if (!command) return;
  if (command.opaque) throw new UnanalysableError('the name of a command is made by an expansion');
  if (!/^[\x21-\x7e]+$/.test(command.text))
    throw new UnanalysableError('the name of a command with unusual characters');
  const program = command.text;
  const name = program.slice(program.lastIndexOf('/') + 1);
  found.push({ program, name, words: rest, assigned });
  // Case: file systems that ignore it run `RM` as `rm`.
  const known = name.toLowerCase();
  const inner = unwrap(known, rest);
  // `time` is a keyword: keywords may follow it.
  if (inner && known === 'time') readSimple(inner, depth + 1, found);
  else if (inner) readInvocation(inner, depth + 1, found, assigned);
  else if (shells.has(known)) readShell(name, rest, depth, found);
  else if (known === 'eval') readCode('eval', rest[0]?.text === '--' ? rest.slice(1) : rest, depth, found);
  else if (known === 'trap') readTrap(rest, depth, found);
  else if (known === 'find') readFind(rest, depth, found);
  else refuseHiddenCode(known, rest);
}

function readCode(owner: string, words: readonly Word[], depth: number, found: Invocation[]): void {
  if (words.some((word) => word.opaque)) throw new UnanalysableError(`the code of ${owner} is made by an expansion`);
  readLine(words.map((word) => word.text).join(' '), depth + 1, found);
}

function readTrap(words: readonly Word[], depth: number, found: Invocation[]): void {
  const action = words.find((word) => word.opaque || word.text !== '--');
  if (action && action.text !== '-' && action.raw !== '-l' && action.raw !== '-p')
    readCode('trap', [action], depth, found);
}

function readShell(name: string, words: readonly Word[], depth: number, found: Invocation[]): void {
  let code = false;
  for (let at = 0; at < words.length; at++) {
    const word = words[at];
    if (!word || word.opaque) break;
    const { text } = word;
    if (text === '--version' || text === '--help') return;
    if (/^--(?:norc|noprofile|login|posix|verbose)$/.test(text)) continue;
    if (/^[-+][A-Za-z]+$/.test(text)) {
      if (text.startsWith('-') && text.includes('c')) code = true;
      if (text.includes('s')) break;
      at += text.match(/[oO]/g)?.length ?? 0;
      continue;
    }
    if (text.startsWith('-') || text.startsWith('+') || /^\/(?:dev|proc)\//.test(text)) break;
    if (code) readCode(`${name} -c`, [word], depth, found);
    return;
  }
  throw new UnanalysableError(`what ${name} runs`);
}

function readFind(words: readonly Word[], depth: number, found: Invocation[]): void {
  if (words.some((word) => word.opaque && !isFileGlob(word)))
    throw new UnanalysableError('words of find that are made by an expansion');
  for (let at = 0; at < words.length; at++) {
    if (!/^-(?:exec|execdir|ok|okdir)$/.test(words[at]?.text ?? '')) continue;
    const end = words.findIndex((word, i) => i > at && (word.text === ';' || word.text === '+'));
    const command = words.slice(at + 1, end < 0 ? undefined : end);
    readInvocation(replaceToken(command, '{}'), depth + 1, found, []);
  }
}

import { refuseGitProgram } from './git-programs.js';
import { isFileGlob, UnanalysableError, type Word } from './word.js';

/** Programs that run others in ways that are not analysed. */
const others = new Set(
  (
    'parallel strace ltrace gdb unshare nsenter setpriv runuser pkexec systemd-run at batch crontab expect tmux screen socat flock ' +
    'script su chroot proot fakeroot firejail bwrap ssh watch alias coproc let fc history bind complete compgen enable hash ' +
    'vi vim nvim view ex ed emacs rlwrap unbuffer torsocks proxychains taskset numactl start-stop-daemon daemonize run-parts'
  ).split(' '),
);

const python = /^(?:python|pypy)[\d.]*$/;

/** Short options (one letter) and subcommands by which an interpreter takes code from the command line. */
const inline: readonly [program: RegExp, options: RegExp][] = [
  [python, /^-[A-Za-z]*c/],
  [/^perl[\d.]*$/, /^-[A-Za-z0-9]*[eE]/],
  [/^(?:ruby|lua|luajit|osascript|rscript|julia|ghc|elixir|scala|groovy)[\d.]*$/i, /^-[A-Za-z]*[eE]|^--eval/],
  [/^(?:node|nodejs|bun)$/, /^-[A-Za-z]*[ep]|^--(?:eval|print|import|require)/],
  [/^deno$/, /^eval$/],
  [/^php[\d.]*$/, /^-[A-Za-z]*[rRBE]|^--run/],
  [/^(?:pwsh|powershell)$/i, /^-/],
  [/^(?:tclsh|irb|guile|ghci)[\d.]*$/, /^-/],
];
/** With these it does not read code from its input. */
const harmless = /^(?:--test.*|--version|-V|--help|-h|--check)$/;
const device = /^(?:-$|\/dev\/|\/proc\/)/;

/** Builtins that evaluate a word once more: code may hide in a quoted one. */
const evaluating = new Set(
  'declare typeset local readonly export unset printf read test [ [[ mapfile readarray getopts wait'.split(' '),
);

/** @throws UnanalysableError when the program would run something that its words do not show */
export function refuseHiddenCode(name: string, words: readonly Word[]): void {
  if (others.has(name) || /^ld(?:-linux|-musl)?.*\.so/.test(name)) throw new UnanalysableError(`what ${name} runs`);
  const texts = words.map((word) => word.text);
  const expands = words.some((word) => word.opaque && !isFileGlob(word));
  if (expands && /^(?:[gmn]?awk|g?sed|g?tar|bsdtar|rsync)$/.test(name)) {
    throw new UnanalysableError(`words of ${name} that are made by an expansion`);
  }
  if (evaluating.has(name)) refuseEvaluation(name, words);
  if (name === 'source' || name === '.') refuseUnknownFile(name, words);
  if (/^[gmn]?awk$/.test(name) && texts.some((text) => /system|getline|\||@/.test(text))) {
    throw new UnanalysableError('a program for awk that can run others');
  }
  if (
    /^g?sed$/.test(name) &&
    texts.some((text) => /(?:^|[;{}\n/\d$])\s*e(?:\s|$)|[^\w\s][gpiImM\d]*e[gpiImM\d]*\s*(?:$|[;}\n])/.test(text))
  ) {
    throw new UnanalysableError('the command e of sed');
  }
  if (
    /^g?tar$|^bsdtar$/.test(name) &&
    texts.some((text) => /^--(?:ch|to-c|use|rsh|info-s|new-v)|^-?[A-Za-z]*[IF]/.test(text))
  ) {
    throw new UnanalysableError('an option of tar that runs a program');
  }
  if (name === 'rsync' && texts.some((text) => /^-[A-Za-z]*e|^--rsh/.test(text))) {
    throw new UnanalysableError('an option of rsync that runs a program');
  }
  if (name === 'git') refuseGitProgram(words);
  const options = inline.find(([program]) => program.test(name))?.[1];
  if (options) refuseInlineCode(name, words, options);
}

function refuseEvaluation(name: string, words: readonly Word[]): void {
  const bad = words.some(
    (word) =>
      /\$\(|`/.test(word.text) ||
      (name === '[[' && /^-(?:eq|ne|lt|le|gt|ge|v)$/.test(word.text)) ||
      ((name === 'test' || name === '[') && word.text === '-v') ||
      ((name === 'mapfile' || name === 'readarray') && word.text.startsWith('-C')) ||
      (/^(?:declare|typeset|local|readonly|export|unset)$/.test(name) &&
        word.opaque &&
        !/^[A-Za-z_]\w*\+?=/.test(word.raw)),
  );
  if (bad) throw new UnanalysableError(`words that ${name} evaluates`);
}

function refuseUnknownFile(name: string, words: readonly Word[]): void {
  const files = words.filter((word) => word.text !== '--' || word.opaque);
  if (files.length === 0 || files.some((word) => word.opaque || device.test(word.text))) {
    throw new UnanalysableError(`what ${name} reads`);
  }
}

/** Looks for code up to the script. A word behind an option may be its value, so options behind that still count. */
function refuseInlineCode(name: string, words: readonly Word[], options: RegExp): void {
  let settled = false;
  let before = '';
  for (const word of words) {
    const { text } = word;
    if (word.opaque && !isFileGlob(word)) throw new UnanalysableError(`what ${name} runs`);
    if (options.test(text)) throw new UnanalysableError(`code for ${name} on the command line`);
    if (device.test(text)) throw new UnanalysableError(`what ${name} reads`);
    settled ||= !text.startsWith('-') || harmless.test(text) || (text === '-v' && !python.test(name));
    if (!text.startsWith('-') && (!before.startsWith('-') || (before === '-m' && python.test(name)))) return;
    before = text;
  }
  if (!settled) throw new UnanalysableError(`${name} reads what it runs from its input`);
}

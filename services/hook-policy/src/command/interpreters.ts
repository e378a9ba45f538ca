import { isFileGlob, UnanalysableError, type Word } from './word.js';

/** Programs that run others in ways that are not analysed. */
const others = new Set(
  (
    'parallel strace ltrace gdb unshare nsenter setpriv runuser pkexec systemd-run at batch crontab expect tmux screen socat flock ' +
    'script su chroot proot fakeroot firejail bwrap ssh watch alias coproc let fc history bind complete compgen enable hash ' +
    'vi vim nvim view ex ed emacs rlwrap unbuffer torsocks proxychains taskset numactl start-stop-daemon daemonize run-parts'
  ).split(' '),
);

/** Short options (one letter) and subcommands by which an interpreter takes code from the command line. */
const inline: readonly [program: RegExp, options: RegExp][] = [
  [/^(?:python|pypy)[\d.]*$/, /^-[A-Za-z]*c/],
  [/^perl[\d.]*$/, /^-[A-Za-z0-9]*[eE]/],
  [/^(?:ruby|lua|luajit|osascript|rscript|julia|ghc|elixir|scala|groovy)[\d.]*$/i, /^-[A-Za-z]*[eE]|^--eval/],
  [/^(?:node|nodejs|bun)$/, /^-[A-Za-z]*[ep]|^--(?:eval|print|import|require)/],
  [/^deno$/, /^eval$/],
  [/^php[\d.]*$/, /^-[A-Za-z]*[rRBE]|^--run/],
  [/^(?:pwsh|powershell)$/i, /^-/],
  [/^(?:tclsh|irb|guile|ghci)[\d.]*$/, /^-/],
];
const harmless = /^(?:--test.*|--version|-v|-V|--help|-h|--check|-c)$/;
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
  if (name === 'source' || name === '.') refuseUnknownFile(name, words[0]);
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
  if (name === 'git') refuseGitProgram(words, texts);
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

function refuseUnknownFile(name: string, file: Word | undefined): void {
  if (!file || file.opaque || device.test(file.text)) throw new UnanalysableError(`what ${name} reads`);
}

function refuseInlineCode(name: string, words: readonly Word[], options: RegExp): void {
  for (const word of words) {
    if (word.opaque) throw new UnanalysableError(`what ${name} runs`);
    if (options.test(word.text)) throw new UnanalysableError(`code for ${name} on the command line`);
    if (device.test(word.text)) throw new UnanalysableError(`what ${name} reads`);
    if (!word.text.startsWith('-') || harmless.test(word.text)) return;
  }
  throw new UnanalysableError(`${name} reads what it runs from its input`);
}

const gitSetting =
  /^(?:alias\.|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|sequence\.editor|pager\.|diff\.|merge\.|filter\.|credential\.|protocol\.|gpg\.|include)/i;

function refuseGitProgram(words: readonly Word[], texts: readonly string[]): void {
  const subcommand = words.findIndex((word, i) => !word.text.startsWith('-') && !texts[i - 1]?.startsWith('-'));
  const unknown = words.findIndex((word) => word.opaque);
  if (unknown >= 0 && unknown <= subcommand)
    throw new UnanalysableError('the subcommand of git is made by an expansion');
  const sets = texts.some((text) => gitSetting.test(text) || /^[\w.-]+=!/.test(text));
  const runs =
    /^(?:bisect run|submodule foreach|filter-branch|difftool|mergetool)/.test(
      texts.filter((text) => !text.startsWith('-')).join(' '),
    ) ||
    texts.some(
      (text) =>
        /^(?:-x|--exec(?:=|$)|--config-env|--exec-path=|--upload-pack|--receive-pack|-u$)/.test(text) &&
        !texts.includes('push'),
    );
  if (sets || runs) throw new UnanalysableError('a setting or command of git that runs a program');
}

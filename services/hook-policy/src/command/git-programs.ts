import { UnanalysableError, type Word } from './word.js';

const setting =
  /^(?:alias\.|core\.(?:pager|editor|sshcommand|fsmonitor|hookspath|gitproxy|askpass)|sequence\.editor|pager\.|diff\.|merge\.|filter\.|credential\.|protocol\.|gpg\.|include)/i;
const always = /^(?:--config-env|--exec-path=|--upload-pack|--open-files-in-pager|--extcmd)/;
/** Options that run a program in some subcommands and mean something harmless in others. */
const inSubcommand: Readonly<Record<string, RegExp>> = {
  rebase: /^(?:-x|--exec)/,
  clone: /^-u|^ext::/,
  'ls-remote': /^ext::|^--exec/,
  fetch: /^ext::/,
  pull: /^ext::/,
  remote: /^ext::/,
  grep: /^-[A-Za-z]*O/,
  archive: /^--exec/,
  push: /^ext::|^--receive-pack|^--exec/,
};
const running = /^(?:bisect run|submodule foreach|filter-branch|difftool|mergetool)\b/;

/** Git has many ways to run another program: aliases and other settings, hooks for each commit, pagers. @throws UnanalysableError */
export function refuseGitProgram(words: readonly Word[]): void {
  const texts = words.map((word) => word.text);
  const subcommand = texts.findIndex((text, i) => !text.startsWith('-') && !texts[i - 1]?.startsWith('-'));
  const unknown = words.findIndex((word) => word.opaque);
  if (unknown >= 0 && (subcommand < 0 || unknown <= subcommand)) {
    throw new UnanalysableError('the subcommand of git is made by an expansion');
  }
  const names = texts.filter((text) => !text.startsWith('-'));
  const runs =
    texts.some((text) => setting.test(text) || always.test(text) || /^[\w.-]+=!/.test(text)) ||
    names.some((_, i) => running.test(names.slice(i).join(' '))) ||
    Object.entries(inSubcommand).some(
      ([name, option]) => texts.includes(name) && texts.some((text) => option.test(text)),
    );
  if (runs) throw new UnanalysableError('a setting or command of git that runs a program');
}

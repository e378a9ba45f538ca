import { UnanalysableError } from './word.js';

const simple: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  e: '\x1b',
  E: '\x1b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
  '\\': '\\',
  "'": "'",
  '"': '"',
  '?': '?',
};
const escape = /\\(?:([0-7]{1,3})|x([0-9a-fA-F]{1,2})|u([0-9a-fA-F]{1,4})|U([0-9a-fA-F]{1,8})|c(.)|([\s\S]))/g;

/** The text between the quotes of `$'…'`, as bash reads it. */
export function decodeAnsiC(text: string): string {
  return text.replace(
    escape,
    (whole: string, octal?: string, hex?: string, short?: string, long?: string, control?: string, other?: string) => {
      if (control !== undefined) throw new UnanalysableError("a control character in $'…'");
      if (other !== undefined) return simple[other] ?? whole;
      const code = octal !== undefined ? parseInt(octal, 8) & 0xff : parseInt(hex ?? short ?? long ?? '', 16);
      if (code === 0 || code > 0x10ffff) throw new UnanalysableError("an unusual character in $'…'");
      return String.fromCodePoint(code);
    },
  );
}

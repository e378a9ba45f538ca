/** A configured source of packages, as far as it matters here. */
export interface AptSource {
  readonly uri: string;
}

/** Reads the one-line format of `sources.list`: `deb [options] uri suite components`. */
export function parseAptList(text: string): AptSource[] {
  return text.split('\n').flatMap((line) => {
    const uri = /^\s*deb\s+(?:\[[^\]]*\]\s*)?(\S+)/.exec(line)?.[1];
    return uri === undefined ? [] : [{ uri }];
  });
}

/** Reads the stanza format of `*.sources` files. Disabled stanzas and sources of source code are left out. */
export function parseAptStanzas(text: string): AptSource[] {
  const withoutComments = text
    .split('\n')
    .filter((line) => !line.startsWith('#'))
    .join('\n');
  return withoutComments.split(/\n\s*\n/).flatMap((stanza) => {
    const fields = parseFields(stanza);
    const isOff = /^(no|false|without|off|disable)$/i.test(fields.get('enabled') ?? 'yes');
    if (isOff || !words(fields.get('types')).includes('deb')) return [];
    return words(fields.get('uris')).map((uri) => ({ uri }));
  });
}

/** The address of the Debian archive among the configured sources: a path that ends in `/debian`, never a security archive. */
export function pickDebianMirror(sources: readonly AptSource[]): string | undefined {
  const mirror = sources.find(({ uri }) => /\/debian\/*$/.test(uri) && !uri.includes('security'));
  return mirror?.uri.replace(/\/+$/, '');
}

function parseFields(stanza: string): Map<string, string> {
  const fields = new Map<string, string>();
  let name = '';
  for (const line of stanza.split('\n')) {
    const field = /^([A-Za-z][\w-]*):(.*)$/.exec(line);
    if (field !== null) name = (field[1] ?? '').toLowerCase();
    const value = field === null ? line : (field[2] ?? '');
    fields.set(name, `${fields.get(name) ?? ''} ${value}`.trim());
  }
  return fields;
}

function words(value: string | undefined): string[] {
  return (value ?? '').split(/\s+/).filter((word) => word !== '');
}

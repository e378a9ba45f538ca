import { describe, expect, it } from '@jest/globals';
import { parseAptList, parseAptStanzas, pickDebianMirror } from './debian-mirror.js';

describe('parseAptList', () => {
  it('reads binary sources with and without options, and no comments or source code', () => {
    const text = [
      '# deb http://commented.example/debian bookworm main',
      'deb [arch=amd64 signed-by=/k.gpg] http://mirror.example/debian/ bookworm main contrib',
      'deb-src http://sources.example/debian bookworm main',
      '  deb https://tools.example/apt stable main # ours',
    ].join('\n');
    expect(parseAptList(text)).toEqual([
      { uri: 'http://mirror.example/debian/' },
      { uri: 'https://tools.example/apt' },
    ]);
  });
});

describe('parseAptStanzas', () => {
  it('reads every address of an enabled binary stanza', () => {
    const text = [
      'Types: deb deb-src',
      '# URIs: http://commented.example/debian',
      'URIs: http://one.example/debian',
      ' http://two.example/debian',
      'Suites: bookworm',
      '',
      'types: deb',
      'uris: http://three.example/apt',
    ].join('\n');
    const uris = parseAptStanzas(text).map(({ uri }) => uri);
    expect(uris).toEqual(['http://one.example/debian', 'http://two.example/debian', 'http://three.example/apt']);
  });

  it('leaves out disabled stanzas and stanzas of source code', () => {
    const text =
      'Types: deb\nURIs: http://a.example/debian\nEnabled: no\n\nTypes: deb-src\nURIs: http://b.example/debian\n';
    expect(parseAptStanzas(text)).toEqual([]);
  });
});

describe('pickDebianMirror', () => {
  it('is the archive, not the security archive nor a vendor', () => {
    const uris = ['https://vendor.example/apt', 'http://security.example/debian', 'http://m.example/debian-security'];
    const sources = [...uris, 'http://mirror.example/pub/debian/'].map((uri) => ({ uri }));
    expect(pickDebianMirror(sources)).toBe('http://mirror.example/pub/debian');
  });

  it('is nothing on a machine without a Debian archive', () => {
    expect(pickDebianMirror([{ uri: 'http://archive.example/ubuntu' }])).toBeUndefined();
  });
});

import { describe, expect, it } from '@jest/globals';
import { referencesOf } from './support/references-of.js';

const specifiers = (text: string) => referencesOf('a.ts', text).map(({ specifier }) => specifier);

describe('references of a source file', () => {
  it.each([
    ["import { a } from 'x';"],
    ["import type { A } from 'x';"],
    ["import 'x';"],
    ["import a = require('x');"],
    ["export { a } from 'x';"],
    ["export type { A } from 'x';"],
    ["export * from 'x';"],
    ["const a = await import('x');"],
    ['const a = await import(`x`);'],
    ["type A = import('x').A;"],
    ["const a = require('x');"],
    ["const a = import.meta.resolve('x');"],
    ["const load = createRequire(import.meta.url); load.resolve('x');"],
    ["const a = createRequire(import.meta.url)('x');"],
  ])('%s', (text) => {
    expect(specifiers(text)).toEqual(['x']);
  });

  it('are not what a comment, a string or a call of another name says', () => {
    expect(specifiers("// import 'x';\nconst a = \"import 'x'\"; path.resolve('x');")).toEqual([]);
  });

  it('carry their line, and whether they export all', () => {
    expect(referencesOf('a.ts', "\nimport 'x';\nexport * as y from 'y';\nexport { z } from 'z';")).toEqual([
      { specifier: 'x', line: 2, isExportAll: false },
      { specifier: 'y', line: 3, isExportAll: true },
      { specifier: 'z', line: 4, isExportAll: false },
    ]);
  });
});

import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { contextOf, temporaryWorkspace, textOf, type TestWorkspace } from '../tool/context.fixture.spec.js';
import { globTool } from './glob.tool.js';
import { grepTool } from './grep.tool.js';
import type { GrepQuery, Searcher } from './grep-query.js';
import { lineSearch } from './line-search.js';
import { ripgrepPath } from './ripgrep.js';
import { ripgrepSearch } from './ripgrep-search.js';

let box: TestWorkspace;
const at = (path: string) => join(box.root, path);
beforeAll(async () => {
  box = await temporaryWorkspace();
  for (const folder of ['src/deep', 'node_modules/x', '.hidden']) await mkdir(at(folder), { recursive: true });
  await Promise.all([
    writeFile(at('src/a.ts'), 'const needle = 1;\nother\nNeedle again\n'),
    writeFile(at('src/deep/b.ts'), `a.b\naxb\n${'y'.repeat(5000)}needle\n`),
    writeFile(at('src/deep/c.md'), 'needle in text\n'),
    writeFile(at('node_modules/x/d.ts'), 'nothing'),
    writeFile(at('.hidden/e.ts'), 'needle hidden\n'),
    writeFile(at('binary.ts'), Buffer.from('needle\0\0')),
    writeFile(at('-v.ts'), 'dash\n'),
    writeFile(join(box.outside, 'f.ts'), 'needle outside\n'),
    symlink(box.outside, at('out')),
    symlink(join(box.outside, 'f.ts'), at('src/out.ts')),
  ]);
});
afterAll(() => box.remove());

describe('glob', () => {
  const found = async (args: Record<string, unknown>) => textOf(await box.run(globTool, args)).split('\n');

  it('finds files, sorted, with paths in the workspace, and follows no link', async () => {
    expect(await found({ pattern: '**/*.ts' })).toEqual([
      '-v.ts',
      '.hidden/e.ts',
      'binary.ts',
      'src/a.ts',
      'src/deep/b.ts',
    ]);
    expect(await found({ pattern: '*.{ts,md}', path: 'src/deep' })).toEqual(['src/deep/b.ts', 'src/deep/c.md']);
    expect(await found({ pattern: 'node_modules/**' })).toEqual(['node_modules/x/d.ts']);
    expect(await found({ pattern: '*.none' })).toEqual(['[no file matches]']);
  });

  it('says when there is more than the limit', async () => {
    expect(await found({ pattern: '**/*.ts', limit: 2 })).toEqual([
      '-v.ts',
      '.hidden/e.ts',
      '[more than 2 files match; use a narrower pattern]',
    ]);
  });

  it('refuses a pattern that would take for ever, and a folder that is none', async () => {
    expect((await box.run(globTool, { pattern: '*a*a*a*a*a*b' })).error?.code).toBe('invalid_arguments');
    expect((await box.run(globTool, { pattern: '*', path: 'src/a.ts' })).error?.code).toBe('not_a_directory');
    expect((await box.run(globTool, { pattern: '*', path: 'none' })).error?.code).toBe('not_found');
  });
});

const QUERY: GrepQuery = {
  pattern: 'needle',
  path: '.',
  mode: 'content',
  literal: false,
  ignoreCase: false,
  includeIgnored: false,
  context: 0,
  limit: 200,
};
const withRipgrep: Searcher = async (query, ctx) => {
  const path = await ripgrepPath();
  if (path === undefined) throw new Error('this machine has no ripgrep binary');
  return ripgrepSearch(path)(query, ctx);
};

describe.each([
  ['ripgrep', withRipgrep],
  ['the search of its own', lineSearch],
])('grep with %s', (_name, search) => {
  const lines = async (query: Partial<GrepQuery>) =>
    (await search({ ...QUERY, ...query }, contextOf(box.workspace))).lines;

  it('finds lines with path and number, leaves out hidden files and links, and cuts long lines', async () => {
    const found = await lines({ glob: '*.{ts,md}' });
    expect(found.filter((line) => !line.startsWith('binary.ts'))).toEqual([
      'src/a.ts:1:const needle = 1;',
      expect.stringMatching(/^src\/deep\/b\.ts:3:y{500}/),
      'src/deep/c.md:1:needle in text',
    ]);
    expect(found.join('').length).toBeLessThan(1000);
  });

  it('searches a file or a folder below', async () => {
    expect(await lines({ path: 'src/a.ts' })).toEqual(['src/a.ts:1:const needle = 1;']);
    expect(await lines({ path: 'src/deep', glob: '*.md' })).toEqual(['src/deep/c.md:1:needle in text']);
  });

  it('knows modes, letter case, plain text and context', async () => {
    expect(await lines({ path: 'src', mode: 'files' })).toEqual(['src/a.ts', 'src/deep/b.ts', 'src/deep/c.md']);
    expect(await lines({ path: 'src/a.ts', mode: 'count', ignoreCase: true })).toEqual(['src/a.ts:2']);
    expect(await lines({ path: 'src', pattern: 'a.b', literal: true })).toEqual(['src/deep/b.ts:1:a.b']);
    expect(await lines({ path: 'src', pattern: 'a.b' })).toEqual(['src/deep/b.ts:1:a.b', 'src/deep/b.ts:2:axb']);
    const around = await lines({ path: 'src/a.ts', pattern: 'other', context: 1 });
    expect(around).toEqual(['src/a.ts:1-const needle = 1;', 'src/a.ts:2:other', 'src/a.ts:3-Needle again']);
  });

  it('takes hidden files when asked to, and names that look like options', async () => {
    expect(await lines({ includeIgnored: true, mode: 'files', glob: 'e.ts' })).toEqual(['.hidden/e.ts']);
    expect(await lines({ path: '-v.ts', pattern: 'dash' })).toEqual(['-v.ts:1:dash']);
    expect(await lines({ pattern: '--pre=/bin/sh' })).toEqual([]);
  });

  it('stops at the limit and says so', async () => {
    const found = await search({ ...QUERY, pattern: '.', path: 'src', limit: 2 }, contextOf(box.workspace));
    expect(found).toEqual({ lines: expect.any(Array), more: true });
    expect(found.lines).toHaveLength(2);
  });

  it('explains a pattern that is no expression', async () => {
    await expect(lines({ pattern: '(' })).rejects.toMatchObject({
      code: 'search_failed',
      message: expect.stringMatching(/./),
    });
  });

  it('answers soon, whatever the pattern', async () => {
    await writeFile(at('slow.txt'), `${'a'.repeat(40)}!\n`);
    const started = performance.now();
    await lines({ path: 'slow.txt', pattern: '^(a+)+$' }).catch((error: unknown) => {
      expect(error).toMatchObject({ code: 'search_failed' });
    });
    expect(performance.now() - started).toBeLessThan(30_000);
  });
});

describe('grep', () => {
  it('gives lines, a note at the limit, and words where there is nothing', async () => {
    const grep = async (args: Record<string, unknown>) => textOf(await box.run(grepTool, args));
    expect(await grep({ pattern: 'needle', path: 'src/a.ts' })).toBe('src/a.ts:1:const needle = 1;');
    expect(await grep({ pattern: '.', path: 'src/a.ts', limit: 1 })).toMatch(/\n\[more than 1 lines; use a narrower/);
    expect(await grep({ pattern: 'no such thing' })).toBe('[nothing found]');
    expect((await box.run(grepTool, { pattern: 'x', path: 'none' })).error?.code).toBe('not_found');
  });

  it('heeds ignore files of the workspace', async () => {
    await writeFile(at('ignored.log'), 'ripgrep_word\n');
    await writeFile(at('.gitignore'), '*.log\n');
    expect(textOf(await box.run(grepTool, { pattern: 'ripgrep_word' }))).toBe('[nothing found]');
    expect(textOf(await box.run(grepTool, { pattern: 'ripgrep_word', includeIgnored: true }))).toBe(
      'ignored.log:1:ripgrep_word',
    );
  });

  it('has a ripgrep binary that may be run', async () => {
    expect(await ripgrepPath()).toMatch(/rg/);
  });
});

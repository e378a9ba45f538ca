import { describe, expect, it } from '@jest/globals';
import { coreImports } from './rules/core-imports.js';
import { treeOf } from './support/source-tree.js';

const importing = (path: string, specifier: string) => coreImports(treeOf({ [path]: `import '${specifier}';` }));

describe('imports of the cores', () => {
  it.each([
    ['libs/contracts/src/a.ts', 'node:crypto'],
    ['libs/contracts/src/a.ts', 'nats'],
    ['libs/session/src/a.ts', 'zod'],
    ['libs/session/src/a.ts', '@jetloop/platform'],
  ])('%s may not import %s', (path, specifier) => {
    expect(importing(path, specifier)).toHaveLength(1);
  });

  it.each([
    ['libs/contracts/src/a.ts', 'zod'],
    ['libs/contracts/src/a.ts', './b.js'],
    ['libs/session/src/a.ts', '@jetloop/contracts'],
    ['libs/session/src/a.ts', 'node:crypto'],
    ['libs/session/src/a.unit.spec.ts', 'fast-check'],
    ['libs/platform/src/a.ts', 'pino'],
  ])('%s may import %s', (path, specifier) => {
    expect(importing(path, specifier)).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { layers } from './rules/layers.js';
import { treeOf } from './support/source-tree.js';

const importing = (path: string, name: string) =>
  layers(treeOf({ [path]: `import type { A } from '@jetloop/${name}';` }));

describe('layers', () => {
  it.each([
    ['libs/contracts/src/a.ts', 'session'],
    ['libs/session/src/a.ts', 'messaging'],
    ['libs/messaging/src/a.ts', 'persistence'],
    ['libs/persistence/src/a.ts', 'messaging'],
    ['libs/platform/src/a.ts', 'messaging'],
    ['libs/client/src/a.ts', 'platform'],
    ['libs/testing/src/a.ts', 'standalone'],
    ['libs/session/src/a.ts', 'session'],
    ['libs/unheard-of/src/a.ts', 'contracts'],
    ['services/tool-runner/src/a.ts', 'llm-router'],
    ['services/tool-runner/src/a.ts', 'testing'],
    ['services/tool-runner/src/a.ts', 'client'],
    ['services/standalone/src/a.ts', 'cli'],
  ])('%s may not import %s', (path, name) => {
    expect(importing(path, name)).toEqual([expect.stringContaining(`${path}:1: `)]);
  });

  it.each([
    ['libs/session/src/a.ts', 'contracts'],
    ['libs/messaging/src/a.ts', 'session'],
    ['services/tool-runner/src/a.ts', 'messaging'],
    ['services/standalone/src/a.ts', 'tool-runner'],
    ['services/cli/src/a.ts', 'standalone'],
    ['services/tool-runner/src/a.unit.spec.ts', 'testing'],
    ['test/e2e/a.ts', 'standalone'],
  ])('%s may import %s', (path, name) => {
    expect(importing(path, name)).toEqual([]);
  });
});

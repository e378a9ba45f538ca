import { describe, expect, it } from '@jest/globals';
import { deepImports } from './rules/deep-imports.js';
import { treeOf } from './support/source-tree.js';

const manifest = JSON.stringify({ exports: { '.': {}, './nest': {} } });
const importing = (path: string, specifier: string) =>
  deepImports(treeOf({ [path]: `import '${specifier}';`, 'libs/messaging/package.json': manifest }));

describe('deep imports', () => {
  it.each([
    ['services/cli/src/a.ts', '@jetloop/session/src/decide.js'],
    ['services/cli/src/a.ts', '@jetloop/messaging/transport'],
    ['services/cli/src/a.ts', '@jetloop/session/nest'],
    ['services/cli/src/a.ts', '../../../libs/session/src/decide.js'],
    ['libs/session/src/a.unit.spec.ts', '../../contracts/src/commit.js'],
    ['libs/session/src/a.ts', '../../session-other/src/a.js'],
    ['test/e2e/a.e2e.spec.ts', '../../libs/session/src/decide.js'],
  ])('%s may not import %s', (path, specifier) => {
    expect(importing(path, specifier)).toHaveLength(1);
  });

  it.each([
    ['services/cli/src/run/a.ts', '../render/b.js'],
    ['services/cli/src/a.ts', '@jetloop/session'],
    ['services/cli/src/a.ts', '@jetloop/messaging/nest'],
    ['services/cli/src/a.ts', 'rxjs/operators'],
    ['services/cli/bin/jetloop.js', '../dist/main.js'],
    ['test/e2e/a.e2e.spec.ts', './support/b.js'],
  ])('%s may import %s', (path, specifier) => {
    expect(importing(path, specifier)).toEqual([]);
  });
});

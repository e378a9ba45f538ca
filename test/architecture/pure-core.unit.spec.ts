import { describe, expect, it } from '@jest/globals';
import { pureCore } from './rules/pure-core.js';
import { treeOf } from './support/source-tree.js';

describe('the pure core', () => {
  it.each(['Date.now()', 'new Date()', 'Math.random()', 'randomUUID()', "process.env['X']", 'performance.now()'])(
    'may not use %s',
    (expression) => {
      expect(pureCore(treeOf({ 'libs/session/src/a.ts': `\nconst a = ${expression};` }))).toEqual([
        expect.stringContaining('libs/session/src/a.ts:2: '),
      ]);
    },
  );

  it('may work with a time that it is given, and others may look at the clock', () => {
    const tree = treeOf({
      'libs/session/src/a.ts': 'const later = new Date(Date.parse(at) + 1);',
      'libs/session/src/a.unit.spec.ts': 'Date.now();',
      'services/cli/src/a.ts': 'Date.now();',
    });
    expect(pureCore(tree)).toEqual([]);
  });
});

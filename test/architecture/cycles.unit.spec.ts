import { describe, expect, it } from '@jest/globals';
import { cycles } from './rules/cycles.js';
import { treeOf } from './support/source-tree.js';

describe('cycles of imports', () => {
  it('are found through several files and folders, once each', () => {
    const tree = treeOf({
      'libs/x/src/a.ts': "import './sub/b.js';",
      'libs/x/src/c.ts': "export { a } from './a.js';",
      'libs/x/src/start.ts': "import './a.js'; import './c.js';",
      'libs/x/src/sub/b.ts': "import '../c.js';",
    });
    expect(cycles(tree)).toEqual([
      'libs/x/src/a.ts -> libs/x/src/sub/b.ts -> libs/x/src/c.ts -> libs/x/src/a.ts: a cycle of imports',
    ]);
  });

  it('may not be made of types either', () => {
    const tree = treeOf({
      'libs/x/src/a.ts': "import type { B } from './b.js';",
      'libs/x/src/b.ts': "import type { A } from './a.js';",
    });
    expect(cycles(tree)).toHaveLength(1);
  });

  it('are not two ways to one file', () => {
    const tree = treeOf({
      'libs/x/src/a.ts': "import './b.js'; import './c.js';",
      'libs/x/src/b.ts': "import './d.js';",
      'libs/x/src/c.ts': "import './d.js';",
      'libs/x/src/d.ts': '',
    });
    expect(cycles(tree)).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { manifests } from './rules/manifests.js';
import { treeOf } from './support/source-tree.js';

const listing = (...names: string[]) =>
  JSON.stringify({ dependencies: Object.fromEntries(names.map((name) => [name, '1'])) });

describe('manifests', () => {
  it('must list what is imported', () => {
    const tree = treeOf({
      'libs/a/package.json': listing('zod'),
      'libs/a/src/a.ts': "import 'zod'; import '@nestjs/common/x.js'; import 'node:fs'; import './b.js';",
    });
    expect(manifests(tree)).toEqual(['libs/a/package.json: @nestjs/common is imported and not listed']);
  });

  it('may not list what only another package, or a spec, imports', () => {
    const tree = treeOf({
      'libs/a/package.json': listing('zod', 'rxjs'),
      'libs/a/src/a.unit.spec.ts': "import 'zod';",
      'libs/b/package.json': listing('rxjs'),
      'libs/b/src/b.ts': "import 'rxjs';",
    });
    expect(manifests(tree)).toEqual([
      'libs/a/package.json: zod is listed and not imported',
      'libs/a/package.json: rxjs is listed and not imported',
    ]);
  });
});

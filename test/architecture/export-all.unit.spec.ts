import { describe, expect, it } from '@jest/globals';
import { exportAll } from './rules/export-all.js';
import { treeOf } from './support/source-tree.js';

describe('export *', () => {
  it.each(["export * from './b.js';", "export * as b from './b.js';", "export type * from './b.js';"])(
    'is found: %s',
    (text) => {
      expect(exportAll(treeOf({ 'libs/a/src/a.ts': text }))).toHaveLength(1);
    },
  );

  it('is not an export of names', () => {
    expect(exportAll(treeOf({ 'libs/a/src/a.ts': "export { b, type C } from './b.js';" }))).toEqual([]);
  });
});

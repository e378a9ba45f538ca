import { describe, expect, it } from '@jest/globals';
import { fileSize, MAX_LINES } from './rules/file-size.js';
import { treeOf } from './support/source-tree.js';

const lines = (count: number) => '//\n'.repeat(count);

describe('file size', () => {
  it('finds a file that is a line too long', () => {
    expect(fileSize(treeOf({ 'libs/a/src/a.ts': lines(MAX_LINES + 1) }))).toEqual([
      `libs/a/src/a.ts: ${MAX_LINES + 1} lines, expected at most ${MAX_LINES}`,
    ]);
  });

  it('leaves a full file and a long spec alone', () => {
    const tree = treeOf({
      'libs/a/src/a.ts': lines(MAX_LINES),
      'libs/a/src/a.unit.spec.ts': lines(MAX_LINES + 1),
    });
    expect(fileSize(tree)).toEqual([]);
  });
});

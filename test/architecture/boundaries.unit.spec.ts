import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { coreImports } from './rules/core-imports.js';
import { cycles } from './rules/cycles.js';
import { deepImports } from './rules/deep-imports.js';
import { driversInPlace } from './rules/drivers-in-place.js';
import { exportAll } from './rules/export-all.js';
import { fileSize } from './rules/file-size.js';
import { layers } from './rules/layers.js';
import { manifests } from './rules/manifests.js';
import { pureCore } from './rules/pure-core.js';
import { readSources } from './support/read-sources.js';
import { shippedFiles, treeOf, type Rule, type SourceTree } from './support/source-tree.js';

const root = join(import.meta.dirname, '../..');

const rules: [string, Rule][] = [
  ['libraries know only what lies below them, and services know no service', layers],
  ['contracts stand on zod alone, the session core on contracts alone', coreImports],
  ['the session core reads no clock and makes no random value', pureCore],
  ['the bus and SQL are reached only from their places', driversInPlace],
  ['no package reaches into the files of another', deepImports],
  ['every export is named', exportAll],
  ['no imports run in a circle', cycles],
  ['every package lists exactly what its sources import', manifests],
  ['no source file is too long', fileSize],
];

describe('the source tree', () => {
  let tree: SourceTree;
  beforeAll(async () => {
    tree = treeOf(await readSources(root));
  });

  it('was read whole', () => {
    const homes = new Set(shippedFiles(tree).map(({ home }) => home));
    expect([...homes].sort()).toEqual(tree.manifests.map(({ home }) => home).sort());
    expect(homes).toContain('libs/contracts');
    expect(homes).toContain('services/cli');
    const imports = tree.files.flatMap(({ references }) => references);
    expect(imports.length).toBeGreaterThan(tree.files.length);
  });

  it.each(rules)('%s', (_name, rule) => {
    expect(rule(tree)).toEqual([]);
  });
});

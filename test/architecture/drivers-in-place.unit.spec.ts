import { describe, expect, it } from '@jest/globals';
import { driversInPlace } from './rules/drivers-in-place.js';
import { treeOf } from './support/source-tree.js';

const importing = (path: string, specifier: string) =>
  driversInPlace(treeOf({ [path]: `import type { A } from '${specifier}';` }));

describe('drivers in place', () => {
  it.each([
    ['libs/client/src/a.ts', 'nats'],
    ['libs/testing/src/a.ts', 'nats'],
    ['services/cli/src/a.ts', 'nats/lib/x.js'],
    ['services/session-projector/src/project.ts', 'kysely'],
    ['services/cli/src/a.ts', 'pg'],
    ['services/cli/src/a.ts', 'pg-cursor'],
    ['libs/testing/src/a.ts', 'pg'],
  ])('%s may not import %s, not even a type', (path, specifier) => {
    expect(importing(path, specifier)).toHaveLength(1);
  });

  it.each([
    ['libs/messaging/src/a.ts', 'nats'],
    ['libs/persistence/src/a.ts', 'pg'],
    ['services/x/src/turns.repository.ts', 'kysely'],
    ['services/x/src/turns.projection.ts', 'kysely'],
    ['services/x/src/migrations/2026-01-01-a.ts', 'kysely'],
    ['services/x/src/a.int.spec.ts', 'pg'],
    ['test/e2e/support/external-consumer.ts', 'nats'],
  ])('%s may import %s', (path, specifier) => {
    expect(importing(path, specifier)).toEqual([]);
  });
});

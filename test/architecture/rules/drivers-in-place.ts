import { packageName } from '../support/package-name.js';
import { shippedFiles, type Rule } from '../support/source-tree.js';

const isSqlPlace = (path: string): boolean =>
  path.startsWith('libs/persistence/') || path.includes('/migrations/') || /\.(repository|projection)\.ts$/.test(path);
const isBusPlace = (path: string): boolean => path.startsWith('libs/messaging/');

/** Packages that reach a server, and the only files that may name them, types included. */
const PLACES: Readonly<Record<string, (path: string) => boolean>> = {
  nats: isBusPlace,
  kysely: isSqlPlace,
  pg: isSqlPlace,
  'pg-cursor': isSqlPlace,
};

/** The bus is reached through libs/messaging, SQL from libs/persistence, repositories, projections and migrations. */
export const driversInPlace: Rule = (tree) =>
  shippedFiles(tree).flatMap(({ path, references }) =>
    references.flatMap(({ specifier, line }) => {
      const isPlace = PLACES[packageName(specifier) ?? ''];
      return !isPlace || isPlace(path) ? [] : [`${path}:${line}: ${specifier} may not be imported here`];
    }),
  );

import type { Rule } from '../support/source-tree.js';

/** What a module offers is written down name by name. */
export const exportAll: Rule = (tree) =>
  tree.files.flatMap(({ path, references }) =>
    references
      .filter(({ isExportAll }) => isExportAll)
      .map(({ specifier, line }) => `${path}:${line}: export * from ${specifier}: name what is exported`),
  );

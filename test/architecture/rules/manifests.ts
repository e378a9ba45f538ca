import { packageName } from '../support/package-name.js';
import { shippedFiles, type Rule } from '../support/source-tree.js';

/** A package lists what its sources import, and nothing else. What only specs need stands in the root's list. */
export const manifests: Rule = (tree) => {
  const shipped = shippedFiles(tree);
  return tree.manifests.flatMap(({ path, home, dependencies }) => {
    const imported = new Set(
      shipped
        .filter((file) => file.home === home)
        .flatMap(({ references }) => references.map(({ specifier }) => packageName(specifier)))
        .filter((name) => name !== undefined),
    );
    const missing = [...imported].filter((name) => !dependencies.includes(name)).sort();
    const unused = dependencies.filter((name) => !imported.has(name));
    return [
      ...missing.map((name) => `${path}: ${name} is imported and not listed`),
      ...unused.map((name) => `${path}: ${name} is listed and not imported`),
    ];
  });
};

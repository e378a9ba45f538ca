import { isBuiltin } from 'node:module';
import { packageName } from '../support/package-name.js';
import { shippedFiles, type Rule } from '../support/source-tree.js';

const CORES: Readonly<Record<string, { readonly packages: readonly string[]; readonly builtins: boolean }>> = {
  'libs/contracts': { packages: ['zod'], builtins: false },
  'libs/session': { packages: ['@jetloop/contracts'], builtins: true },
};

/** The contracts stand on zod alone, the session core on the contracts alone. */
export const coreImports: Rule = (tree) =>
  shippedFiles(tree).flatMap(({ path, home, references }) => {
    const core = CORES[home];
    if (!core) return [];
    return references.flatMap(({ specifier, line }) => {
      const name = packageName(specifier);
      const isFine = name === undefined ? core.builtins || !isBuiltin(specifier) : core.packages.includes(name);
      return isFine ? [] : [`${path}:${line}: ${home} may not import ${specifier}`];
    });
  });

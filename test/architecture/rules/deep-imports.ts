import { posix } from 'node:path';
import type { Rule } from '../support/source-tree.js';

/** A package is used by its name alone, specs included: nobody reaches into another's files. */
export const deepImports: Rule = (tree) =>
  tree.files.flatMap(({ path, home, references }) =>
    references.flatMap(({ specifier, line }) => {
      const isInside = /^@jetloop\/[^/]+\/./.test(specifier);
      const leaves =
        specifier.startsWith('.') && !`${posix.join(posix.dirname(path), specifier)}/`.startsWith(`${home}/`);
      return isInside || leaves ? [`${path}:${line}: ${specifier} reaches into another package`] : [];
    }),
  );

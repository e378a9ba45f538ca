import { posix } from 'node:path';
import { ownPackage } from '../support/package-name.js';
import type { Rule, SourceTree } from '../support/source-tree.js';

/** A package is used by what its manifest exports, specs included: nobody reaches into another's files. */
export const deepImports: Rule = (tree) =>
  tree.files.flatMap(({ path, home, references }) =>
    references.flatMap(({ specifier, line }) => {
      const isInside = /^@jetloop\/[^/]+\/./.test(specifier) && !isExported(tree, specifier);
      const leaves =
        specifier.startsWith('.') && !`${posix.join(posix.dirname(path), specifier)}/`.startsWith(`${home}/`);
      return isInside || leaves ? [`${path}:${line}: ${specifier} reaches into another package`] : [];
    }),
  );

function isExported({ manifests }: SourceTree, specifier: string): boolean {
  const name = ownPackage(specifier);
  const way = specifier.replace(/^@jetloop\/[^/]+/, '.');
  return manifests.some(({ home, ways }) => home.endsWith(`/${name}`) && ways.includes(way));
}

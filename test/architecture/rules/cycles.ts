import { posix } from 'node:path';
import type { Rule, SourceFile, SourceTree } from '../support/source-tree.js';

/** No file needs itself by way of others, types included: what two files share is a third one. */
export const cycles: Rule = (tree) => {
  const graph = graphOf(tree);
  const done = new Set<string>();
  const found: string[] = [];
  const visit = (path: string, way: readonly string[]): void => {
    const start = way.indexOf(path);
    if (start >= 0) found.push(`${[...way.slice(start), path].join(' -> ')}: a cycle of imports`);
    if (start >= 0 || done.has(path)) return;
    for (const next of graph.get(path) ?? []) visit(next, [...way, path]);
    done.add(path);
  };
  for (const path of graph.keys()) visit(path, []);
  return found;
};

function graphOf({ files }: SourceTree): Map<string, string[]> {
  const known = new Set(files.map(({ path }) => path));
  return new Map(files.map((file) => [file.path, neighbours(file).filter((path) => known.has(path))]));
}

function neighbours({ path, references }: SourceFile): string[] {
  return references
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts'));
}

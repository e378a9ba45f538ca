import { z } from 'zod';
import { referencesOf, type Reference } from './references-of.js';

/** A source file; paths are relative to the repository, with forward slashes. */
export interface SourceFile {
  readonly path: string;
  /** The package, or the suite, that it belongs to: `libs/session`, `services/cli`, `test`, `bench`. */
  readonly home: string;
  /** A spec or a fixture of specs. */
  readonly isSpec: boolean;
  readonly text: string;
  readonly references: readonly Reference[];
}

export interface Manifest {
  readonly path: string;
  readonly home: string;
  readonly dependencies: readonly string[];
  /** The ways in, as its `exports` names them: `.`, `./nest`. */
  readonly ways: readonly string[];
}

export interface SourceTree {
  readonly files: readonly SourceFile[];
  readonly manifests: readonly Manifest[];
}

/** What a rule finds, one line each: where, and what is wrong there. */
export type Rule = (tree: SourceTree) => string[];

const manifestSchema = z.looseObject({
  dependencies: z.record(z.string(), z.string()).default({}),
  exports: z.record(z.string(), z.unknown()).default({}),
});

/** The tree of these files: `package.json` files by what they list, all others as sources. */
export function treeOf(texts: Readonly<Record<string, string>>): SourceTree {
  const files: SourceFile[] = [];
  const manifests: Manifest[] = [];
  for (const [path, text] of Object.entries(texts)) {
    const home = homeOf(path);
    if (path.endsWith('/package.json')) {
      const { dependencies, exports } = manifestSchema.parse(JSON.parse(text));
      manifests.push({ path, home, dependencies: Object.keys(dependencies), ways: Object.keys(exports) });
    } else {
      files.push({ path, home, isSpec: path.endsWith('.spec.ts'), text, references: referencesOf(path, text) });
    }
  }
  return { files, manifests };
}

/** The source files of packages that are not specs: what the rules of the layers speak of. */
export function shippedFiles(tree: SourceTree): SourceFile[] {
  return tree.files.filter(({ home, isSpec }) => !isSpec && home.includes('/'));
}

function homeOf(path: string): string {
  const [top = '', name = ''] = path.split('/');
  return top === 'libs' || top === 'services' ? `${top}/${name}` : top;
}

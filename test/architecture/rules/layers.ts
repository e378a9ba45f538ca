import { ownPackage } from '../support/package-name.js';
import { shippedFiles, type Rule, type SourceFile } from '../support/source-tree.js';

const COMMON = ['contracts', 'session', 'messaging', 'persistence', 'platform'];

/** What each library may import of this project: arrows point one way. */
const LIBRARIES: Readonly<Record<string, readonly string[]>> = {
  contracts: [],
  session: ['contracts'],
  messaging: ['contracts', 'session'],
  persistence: ['contracts', 'session'],
  platform: ['contracts', 'session'],
  client: ['contracts', 'messaging'],
  testing: COMMON,
};

/** What a service may import besides: the bridge drives sessions for editors, as any program does. */
const SERVICES: Readonly<Record<string, readonly string[]>> = { 'acp-bridge': ['client'] };

/** Packages that put services together, and so may import them. */
const ASSEMBLIES = ['standalone', 'cli'];

/** Libraries know only what lies below them, services know no service. */
export const layers: Rule = (tree) =>
  shippedFiles(tree).flatMap((file) =>
    file.references.flatMap(({ specifier, line }) => {
      const imported = ownPackage(specifier);
      if (imported === undefined || mayImport(file, imported)) return [];
      return [`${file.path}:${line}: ${file.home} may not import @jetloop/${imported}`];
    }),
  );

function mayImport({ home }: SourceFile, imported: string): boolean {
  const [kind, name = ''] = home.split('/');
  if (imported === name) return false;
  if (kind === 'libs') return LIBRARIES[name]?.includes(imported) ?? false;
  if (name === 'cli') return true;
  if (ASSEMBLIES.includes(name)) return imported !== 'cli';
  return COMMON.includes(imported) || (SERVICES[name]?.includes(imported) ?? false);
}

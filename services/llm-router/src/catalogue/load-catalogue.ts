import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { parseDocument } from 'yaml';
import { z } from 'zod';
import { catalogueOf, CatalogueError, type Catalogue } from './catalogue.js';

/** As far as a target names files; everything else is judged later. */
const withFiles = z.looseObject({
  targets: z.record(
    z.string(),
    z.looseObject({ script: z.unknown().optional(), journal: z.string().optional().catch(undefined) }),
  ),
});

/** Reads a catalogue from YAML (or JSON) text; files that it names are relative to it. @throws CatalogueError */
export function parseCatalogue(text: string, file: string): Catalogue {
  const value = valueOf(text, file);
  const named = withFiles.safeParse(value);
  if (!named.success) return catalogueOf(value, file);
  const folder = dirname(file);
  const targets = Object.entries(named.data.targets).map(([name, target]): [string, unknown] => {
    const { script, journal } = target;
    const rules = typeof script === 'string' ? { script: rulesOf(resolve(folder, script), `${file}: ${name}`) } : {};
    return [name, { ...target, ...rules, ...(journal === undefined ? {} : { journal: resolve(folder, journal) }) }];
  });
  return catalogueOf({ ...named.data, targets: Object.fromEntries(targets) }, file);
}

function rulesOf(path: string, where: string): unknown {
  try {
    return valueOf(readFileSync(path, 'utf8'), path);
  } catch (error) {
    if (error instanceof CatalogueError) throw error;
    throw new CatalogueError(`${where}: expected a file with the rules of the script: ${String(error)}`);
  }
}

function valueOf(text: string, file: string): unknown {
  const document = parseDocument(text, { prettyErrors: true });
  const [problem] = document.errors;
  if (problem) throw new CatalogueError(`${file}: ${problem.message}`);
  return document.toJS();
}

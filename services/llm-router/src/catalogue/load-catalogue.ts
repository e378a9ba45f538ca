import { parseDocument } from 'yaml';
import { catalogueOf, CatalogueError, type Catalogue } from './catalogue.js';

/** Reads a catalogue from YAML (or JSON) text. @throws CatalogueError */
export function parseCatalogue(text: string, file: string): Catalogue {
  const document = parseDocument(text, { prettyErrors: true });
  const [problem] = document.errors;
  if (problem) throw new CatalogueError(`${file}: ${problem.message}`);
  const value: unknown = document.toJS();
  return catalogueOf(value, file);
}

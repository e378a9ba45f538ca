import type { OutputOptions } from '@jetloop/client';
import { z } from 'zod';
import { UsageError } from '../usage-error.js';
import { parseYaml } from './parse-yaml.js';
import { readText } from './read-text.js';

const schemaShape = z.record(z.string(), z.unknown());

/** The JSON Schema that an answer shall fit, from a file; undefined: none was named. @throws UsageError */
export async function loadSchema(file: string | undefined): Promise<OutputOptions | undefined> {
  if (file === undefined) return undefined;
  const parsed = schemaShape.safeParse(parseYaml(await readText(file, 'schema file'), file));
  if (parsed.success) return { schema: parsed.data };
  throw new UsageError(`${file}: expected a JSON Schema, an object as JSON or YAML.`);
}

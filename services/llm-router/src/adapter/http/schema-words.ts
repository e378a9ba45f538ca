/** Where a JSON Schema holds words of whoever wrote it; the rest is its shape, which an error message is about. */
const WORDS = new Set(['title', 'description', '$comment', 'const', 'default', 'enum', 'examples']);
/** Where the keys are names of the writer's choice and the values schemas. */
const NAMED = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas']);

/** The texts that stand in a schema beside its shape, at any depth. */
export function schemaWords(schema: unknown): string[] {
  return entriesOf(schema).flatMap(([key, value]) => {
    if (WORDS.has(key)) return textsIn(value);
    return NAMED.has(key) ? entriesOf(value).flatMap(([, each]) => schemaWords(each)) : schemaWords(value);
  });
}

function textsIn(value: unknown): string[] {
  return typeof value === 'string' ? [value] : entriesOf(value).flatMap(([, each]) => textsIn(each));
}

function entriesOf(value: unknown): [string, unknown][] {
  return typeof value === 'object' && value !== null ? Object.entries(value) : [];
}

import { z } from 'zod';

const Node = z.looseObject({
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});

/** Says which argument does not fit and what was expected, so that the model can mend its call. */
export function describeMisfit(tool: string, schema: Record<string, unknown>, error: z.ZodError): string {
  const lines = error.issues.map((issue) => {
    const at = z.core.toDotPath(issue.path) || 'arguments';
    if (issue.code !== 'unrecognized_keys') return `- ${at}: ${issue.message}`;
    const allowed = keysAt(schema, issue.path);
    return `- ${at}: unknown key ${issue.keys.map((key) => `"${key}"`).join(', ')}; allowed: ${allowed.join(', ') || 'none'}`;
  });
  return [`The arguments do not fit the tool "${tool}":`, ...lines].join('\n');
}

function keysAt(schema: unknown, path: PropertyKey[]): string[] {
  const node = Node.safeParse(schema).data;
  const [first, ...rest] = path;
  if (first === undefined) return Object.keys(node?.properties ?? {});
  return keysAt(typeof first === 'string' ? node?.properties?.[first] : node?.items, rest);
}

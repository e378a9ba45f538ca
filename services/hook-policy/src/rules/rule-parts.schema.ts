import { jsonSchema } from '@jetloop/contracts';
import picomatch from 'picomatch';
import { z } from 'zod';
import { parsePath } from './argument-path.js';
import { compilePattern } from './safe-pattern.js';

const NAME = /^[A-Za-z0-9_-]{1,64}$/;
export const nameSchema = z.string().regex(NAME, 'expected 1 to 64 characters of A-Z, a-z, 0-9, "_" and "-"');
export const text = z.string().refine((value) => value.trim() !== '', 'expected a text, got an empty one');
/** One or a list, kept as a list; no union, so that an error names its place in either form. */
const listOf = <T extends z.ZodType>(item: T) =>
  z.preprocess(
    (value) => (Array.isArray(value) ? (value as unknown[]) : [value]),
    z.array(item).min(1, 'expected at least one'),
  );
const texts = listOf(text);
export const globs = z.array(text).min(1, 'expected at least one glob').default(['*']);

const regex = z.string().superRefine((source, context) => {
  try {
    compilePattern(source);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    context.addIssue({ code: 'custom', message: `expected a regular expression: ${why}` });
  }
});
/** A tool's name: a glob, or `/regex/`. */
const toolName = text.superRefine((value, context) => {
  const checked = value.startsWith('/') ? regex.safeParse(value) : undefined;
  for (const issue of checked?.error?.issues ?? []) context.addIssue({ code: 'custom', message: issue.message });
  if (value.startsWith('/') && !/^\/[\s\S]+\/[a-z]*$/.test(value)) {
    context.addIssue({ code: 'custom', message: 'expected a glob or /regex/: the closing "/" is missing' });
  }
});
const pathGlob = text.refine((glob) => {
  try {
    picomatch.makeRe(glob, { dot: true });
    return true;
  } catch {
    // Only the glob's own errors come here, and they say no more than that it is none.
    return false;
  }
}, 'expected a glob');

const numbers = z
  .strictObject({ gt: z.number().optional(), lt: z.number().optional() })
  .refine((value) => value.gt !== undefined || value.lt !== undefined, 'expected gt, lt or both');

const operators = ['equals', 'in', 'glob', 'regex', 'under-path', 'gt', 'lt'] as const;
const argumentSchema = z
  .strictObject({
    path: z
      .string()
      .refine((path) => parsePath(path) !== undefined, 'expected a path such as a.b, items[0] or items[*].path'),
    equals: jsonSchema.optional(),
    in: z.array(jsonSchema).min(1).optional(),
    glob: pathGlob.optional(),
    regex: regex.optional(),
    'under-path': texts.optional(),
    gt: z.number().optional(),
    lt: z.number().optional(),
  })
  .refine(
    (value) => operators.some((operator) => value[operator] !== undefined),
    `expected one of ${operators.join(', ')}`,
  );
export type ArgumentCondition = z.infer<typeof argumentSchema>;

const commandSchema = z
  .strictObject({
    argument: z.string().default('command'),
    runs: z.array(text).min(1).optional(),
    'runs-other-than': z.array(text).min(1).optional(),
  })
  .refine(
    (value) => (value.runs === undefined) !== (value['runs-other-than'] === undefined),
    'expected either runs (a denylist) or runs-other-than (an allowlist)',
  );
export type CommandCondition = z.infer<typeof commandSchema>;

const textCondition = z
  .strictObject({ contains: texts.optional(), regex: regex.optional(), secrets: z.literal(true).optional() })
  .refine((value) => Object.keys(value).length > 0, 'expected contains, regex or secrets');
export type TextCondition = z.infer<typeof textCondition>;

export const whenSchema = z.strictObject({
  tool: listOf(toolName).optional(),
  readonly: z.boolean().optional(),
  argument: listOf(argumentSchema).optional(),
  command: commandSchema.optional(),
  'calls-before': numbers.optional(),
  prompt: textCondition.optional(),
  result: textCondition.optional(),
  'estimated-tokens': numbers.optional(),
  forced: numbers.optional(),
  default: z.enum(['continue', 'stop']).optional(),
});
export type When = z.infer<typeof whenSchema>;

const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
export const durationSchema = z
  .string()
  .regex(/^[1-9]\d{0,5}(?:ms|[smhd])$/, 'expected a duration such as 500ms, 30s, 10m, 2h or 1d');
/** Milliseconds of `500ms`, `30s`, `10m`, `2h`, `1d`. */
export function durationMs(value: string): number {
  const [, count = '', unit = ''] = /^(\d+)([a-z]+)$/.exec(value) ?? [];
  return Number(count) * (Object.entries(units).find(([name]) => name === unit)?.[1] ?? NaN);
}

export const decideSchema = z.strictObject({
  deny: text.optional(),
  block: text.optional(),
  ask: z
    .preprocess(
      (value) => (typeof value === 'string' ? { question: value } : value),
      z.strictObject({ question: text, 'expires-in': durationSchema.optional() }),
    )
    .optional(),
  rewrite: z.strictObject({ arguments: z.record(z.string(), jsonSchema) }).optional(),
  redact: z
    .strictObject({
      secrets: z.boolean().default(true),
      patterns: z.array(regex).default([]),
      with: z.string().default('[redacted]'),
    })
    .optional(),
  context: text.optional(),
  compact: z.literal(true).optional(),
  continue: text.optional(),
  stop: z.literal(true).optional(),
});
export type Decide = z.infer<typeof decideSchema>;

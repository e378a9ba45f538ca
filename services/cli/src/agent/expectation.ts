import { agentSpecSchema } from '@jetloop/contracts';
import { z } from 'zod';

/** What JSON Schema says of a place in an agent spec, as far as it is put into words here. */
interface Place {
  readonly type?: string | undefined;
  readonly enum?: readonly unknown[] | undefined;
  readonly const?: unknown;
  readonly minimum?: number | undefined;
  readonly maximum?: number | undefined;
  readonly exclusiveMinimum?: number | undefined;
  readonly properties?: Readonly<Record<string, Place>> | undefined;
  readonly additionalProperties?: Place | boolean | undefined;
  readonly items?: Place | undefined;
  readonly anyOf?: readonly Place[] | undefined;
}

const placeSchema: z.ZodType<Place> = z.lazy(() =>
  z.object({
    type: z.string().optional(),
    enum: z.array(z.unknown()).optional(),
    const: z.unknown().optional(),
    minimum: z.number().optional(),
    maximum: z.number().optional(),
    exclusiveMinimum: z.number().optional(),
    properties: z.record(z.string(), placeSchema).optional(),
    additionalProperties: z.union([placeSchema, z.boolean()]).optional(),
    items: placeSchema.optional(),
    anyOf: z.array(placeSchema).optional(),
  }),
);

const root = placeSchema.parse(z.toJSONSchema(agentSpecSchema, { io: 'input' }));

/** What stands at a path by the schema, in words: `a whole number of at least 0`. */
export function expectationAt(path: readonly PropertyKey[]): string | undefined {
  const place = placeAt(path);
  return place ? inWords(place) : undefined;
}

/** The fields that a mapping at this path may have. */
export function fieldsAt(path: readonly PropertyKey[]): string[] {
  return Object.keys(placeAt(path)?.properties ?? {});
}

function placeAt(path: readonly PropertyKey[]): Place | undefined {
  return path.reduce<Place | undefined>((place, key) => place && step(place, key), root);
}

function step(place: Place, key: PropertyKey): Place | undefined {
  if (place.anyOf) return place.anyOf.map((one) => step(one, key)).find((one) => one !== undefined);
  if (typeof key === 'number') return place.items;
  const rest = typeof place.additionalProperties === 'object' ? place.additionalProperties : undefined;
  return place.properties?.[String(key)] ?? rest;
}

function inWords(place: Place): string | undefined {
  if (place.enum) return `one of ${place.enum.map((value) => JSON.stringify(value)).join(', ')}`;
  if (place.const !== undefined) return JSON.stringify(place.const);
  switch (place.type) {
    case 'integer':
      return `a whole number${range(place)}`;
    case 'number':
      return `a number${range(place)}`;
    case 'string':
      return 'text';
    case 'boolean':
      return 'true or false';
    case 'array':
      return `a list${place.items?.type === 'string' ? ' of texts' : ''}`;
    case 'object':
      return 'a mapping';
    default:
      return undefined;
  }
}

function range({ minimum, maximum, exclusiveMinimum }: Place): string {
  // Zod bounds every whole number by what JavaScript can count: that is nothing to tell.
  const most = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  if (exclusiveMinimum !== undefined) return ` above ${exclusiveMinimum}`;
  if (minimum !== undefined && most !== undefined) return ` from ${minimum} to ${most}`;
  if (minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER) return ` of at least ${minimum}`;
  return '';
}

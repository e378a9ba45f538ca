import { z } from 'zod';

const scalar = z.union([z.string(), z.number()]).nullish().catch(undefined);
const looseError = z.looseObject({
  message: z.string().optional().catch(undefined),
  msg: z.string().optional().catch(undefined),
  type: scalar,
  code: scalar,
  status: scalar,
});
const looseBody = z.looseObject({
  error: z.union([z.string().min(1), looseError]).nullish(),
  object: z.string().nullish().catch(undefined),
  message: z.unknown().optional(),
  detail: z.unknown().optional(),
  type: scalar,
  code: scalar,
  status: scalar,
});

/** What an error body says, whatever its shape. */
export interface ErrorFacts {
  readonly message: string | undefined;
  /** type, code and status as the provider wrote them. */
  readonly codes: readonly string[];
  /** An HTTP status inside the body, as OpenRouter and Google give it. */
  readonly status: number | undefined;
}

/** The error that a JSON value carries: `{error}`, `[{error}]`, `{message}`, `{detail}`; undefined when it is none. */
export function errorFacts(value: unknown): ErrorFacts | undefined {
  const parsed = looseBody.safeParse(Array.isArray(value) ? value[0] : value);
  if (!parsed.success) return undefined;
  const { error, ...outer } = parsed.data;
  if (typeof error === 'string') return factsOf(error, outer.type, outer.code, outer.status);
  if (error) return factsOf(error.message ?? error.msg, error.code, error.type, error.status);
  const message = textOf(outer.message) ?? textOf(outer.detail);
  if (message === undefined && outer.object !== 'error') return undefined;
  return factsOf(message, outer.code, outer.type, outer.status);
}

function factsOf(message: string | undefined, ...values: (string | number | null | undefined)[]): ErrorFacts {
  const given = values.filter((value) => value !== null && value !== undefined && value !== '');
  const status = given.map(Number).find((value) => Number.isInteger(value) && value >= 400 && value < 600);
  const codes = given.filter((value) => !/^\d+$/.test(String(value))).map(String);
  return { message: message === '' ? undefined : message, codes, status };
}

/** FastAPI servers put a list of problems or an object into `detail` and `message`. */
function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  if (Array.isArray(value)) return value.map(textOf).find((text) => text !== undefined);
  const nested = looseError.safeParse(value);
  return nested.success ? (nested.data.message ?? nested.data.msg) : undefined;
}

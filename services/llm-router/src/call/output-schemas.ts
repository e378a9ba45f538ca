import { Injectable } from '@nestjs/common';
import { Ajv, type AnySchema, type Options, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { FindMisfit } from '../routing/object-answer.js';
import { timeBoxed } from './time-boxed.js';

export type OutputSchema = Readonly<Record<string, unknown>>;

/** Formats are notes to the reader, as JSON Schema 2020-12 has it; keywords that nobody knows are left alone. */
const OPTIONS: Options = { strict: false, validateFormats: false, allErrors: false, logger: false };
const OLDER_DRAFT = /draft-0[4-7]/;
const MAX_CACHED = 200;
/** Milliseconds that one check may hold the process: a pattern that somebody gave can backtrack for years. */
const MAX_CHECK_MS = 500;

/** Checks of objects by their JSON Schema (2020-12, or draft 7 where the schema says so); a schema is compiled once. */
@Injectable()
export class OutputSchemas {
  private readonly cache = new Map<string, FindMisfit>();

  /** @throws Error where the schema is none */
  findMisfit(schema: OutputSchema): FindMisfit {
    const key = JSON.stringify(schema);
    const known = this.cache.get(key);
    if (known) return known;
    const find = misfitOf(compile(schema));
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    this.cache.set(key, find);
    return find;
  }
}

/** An instance a schema: ids of one caller's schema never meet those of another. */
function compile(schema: OutputSchema): ValidateFunction {
  const dialect = schema['$schema'];
  const isOlder = typeof dialect === 'string' && OLDER_DRAFT.test(dialect);
  const own: AnySchema = { ...schema };
  return isOlder ? new Ajv(OPTIONS).compile(own) : new Ajv2020(OPTIONS).compile(own);
}

/** Names the rule that was missed, never the value: that is the model's answer. */
function misfitOf(validate: ValidateFunction): FindMisfit {
  return (value) => {
    const checked = timeBoxed(() => validate(value), MAX_CHECK_MS);
    if (!checked) return `the object could not be checked: the schema has no end, or takes over ${MAX_CHECK_MS} ms`;
    if (checked.value) return undefined;
    const [error] = validate.errors ?? [];
    return `the object misses the schema at ${error?.schemaPath ?? '#'}: it ${error?.message ?? 'does not fit'}`;
  };
}

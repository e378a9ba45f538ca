import { z } from 'zod';

/** A value that JSON can carry and give back unchanged. */
export type Json = string | number | boolean | null | Json[] | { [key: string]: Json };

/** Any JSON value. Deep checks are the writer's (`assertJson`), so that reading stays cheap. */
export const jsonSchema = z.custom<Json>((value) => value !== undefined, 'expected a JSON value');

/** Bytes (UTF-8) that a value takes as JSON text. */
export function jsonBytes(value: Json | object): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** A value that JSON would lose or change. `path` says where it stands. */
export class NotJsonError extends Error {
  constructor(
    readonly owner: string,
    readonly path: string,
    readonly found: string,
  ) {
    super(
      `${owner} holds ${found} at ${path || '(top)'}: expected plain JSON (string, finite number, boolean, null, array, object)`,
    );
    this.name = 'NotJsonError';
  }
}

/**
 * Refuses what JSON cannot carry: undefined, NaN, infinities, bigint, functions and class instances.
 * @param owner what the value belongs to, named in the error (an event type, say)
 * @throws NotJsonError
 */
export function assertJson(owner: string, value: unknown, path = ''): asserts value is Json {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NotJsonError(owner, path, String(value));
    return;
  }
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) assertJson(owner, value[i], `${path}[${i}]`);
    return;
  }
  if (typeof value !== 'object') throw new NotJsonError(owner, path, typeof value);
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) {
    throw new NotJsonError(owner, path, `an instance of ${value.constructor.name}`);
  }
  for (const [key, item] of Object.entries(value)) assertJson(owner, item, path ? `${path}.${key}` : key);
}

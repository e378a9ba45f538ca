import type { Json } from '@jetloop/contracts';

/** An id of JSON-RPC. */
export type RpcId = string | number | null;
/** A JSON object as it was received. */
export type JsonObject = Record<string, Json>;

/** One line of an agent's output, as received. `idText`: an id as it was written, for it goes back so. */
export type Frame =
  | { readonly kind: 'undecodable'; readonly value: Json }
  | (Received & { readonly kind: 'notification'; readonly method: string })
  | (Received & { readonly kind: 'request'; readonly method: string; readonly idText: string })
  | (Received & { readonly kind: 'response'; readonly id: RpcId });

export interface Received {
  readonly message: JsonObject;
  /** The line itself. */
  readonly text: string;
  /** What keeps JSON from writing `message` back as it came; undefined: it can. */
  readonly flaw: string | undefined;
}

/** A text field of an object; empty where there is none. */
export function textField(object: JsonObject, field: string): string {
  const value = object[field];
  return typeof value === 'string' ? value : '';
}

/** Whether a value of JSON is an object. */
export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A value, or the line that it came in where JSON cannot write it back as it was. */
export function writable(value: Json, { flaw, text }: Pick<Received, 'flaw' | 'text'>): Json {
  return flaw === undefined ? value : { encodeError: flaw, text };
}

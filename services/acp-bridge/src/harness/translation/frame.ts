import type { Json } from '@jetloop/contracts';

/** An id of JSON-RPC. */
export type RpcId = string | number | null;
/** A JSON object as it was received. */
export type JsonObject = Record<string, Json>;

/** One line of an agent's output, as received. `text`: the line itself; `exact`: whether JSON can write `message` back. */
export type Frame =
  | { readonly kind: 'undecodable'; readonly value: Json }
  | (Received & { readonly kind: 'notification'; readonly method: string })
  | (Received & { readonly kind: 'request'; readonly method: string; readonly id: RpcId })
  | (Received & { readonly kind: 'response'; readonly id: RpcId });

export interface Received {
  readonly message: JsonObject;
  readonly text: string;
  readonly exact: boolean;
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

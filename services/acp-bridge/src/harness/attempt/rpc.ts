import type { Json } from '@jetloop/contracts';

/** Frames that we write, as one line of JSON each. */
export function request(id: number, method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function notification(method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

/** @param idText the id as it was written: a number of 64 bits is not what JSON makes of it */
export function response(idText: string, result: Json): string {
  return `{"jsonrpc":"2.0","id":${idText},"result":${JSON.stringify(result)}}`;
}

export function errorResponse(idText: string, code: number, message: string): string {
  return `{"jsonrpc":"2.0","id":${idText},"error":${JSON.stringify({ code, message })}}`;
}

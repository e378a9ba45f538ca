import type { Json } from '@jetloop/contracts';
import type { RpcId } from '../translation/frame.js';

/** Frames that we write, as one line of JSON each. */
export function request(id: number, method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params });
}

export function notification(method: string, params: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', method, params });
}

export function response(id: RpcId, result: Json): string {
  return JSON.stringify({ jsonrpc: '2.0', id, result });
}

export function errorResponse(id: RpcId, code: number, message: string): string {
  return JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } });
}

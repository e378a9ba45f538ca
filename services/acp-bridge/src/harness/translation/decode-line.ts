import { isUtf8 } from 'node:buffer';
import type { Json } from '@jetloop/contracts';
import { isObject, type Frame, type RpcId } from './frame.js';

/** A number that may not be what was written once it is read: very long, or with an exponent. */
const DOUBTFUL_NUMBER = /\d[\d.]{15}|\d[eE]/;

/** Reads one line of JSON-RPC. What is none is kept as text, or as base64 where it is not UTF-8. */
export function decodeLine(bytes: Buffer): Frame {
  if (!isUtf8(bytes)) return { kind: 'undecodable', value: { base64: bytes.toString('base64') } };
  const text = bytes.toString('utf8');
  const parsed = parse(text);
  if (!parsed || !isObject(parsed.value)) return { kind: 'undecodable', value: { text } };
  const message = parsed.value;
  const { method, id } = message;
  const received = { message, text, exact: parsed.exact };
  if (typeof method === 'string') {
    if (id === undefined) return { ...received, kind: 'notification', method };
    return isId(id) ? { ...received, kind: 'request', method, id } : { kind: 'undecodable', value: { text } };
  }
  const answers = 'result' in message || 'error' in message;
  if (method === undefined && id !== undefined && isId(id) && answers) return { ...received, kind: 'response', id };
  return { kind: 'undecodable', value: { text } };
}

/** The value of a JSON text, and whether it holds exactly what the text says; undefined: it is no JSON. */
function parse(text: string): { readonly value: Json; readonly exact: boolean } | undefined {
  try {
    if (!DOUBTFUL_NUMBER.test(text)) return { value: JSON.parse(text) as Json, exact: true };
    let exact = true;
    // The third argument, the number as it is written, is newer than the types.
    const value = JSON.parse(text, (_key: string, item: unknown, ...context: unknown[]) => {
      if (typeof item === 'number' && !isSameNumber(item, sourceOf(context[0]) ?? '')) exact = false;
      return item;
    }) as Json;
    return { value, exact };
  } catch {
    // Not JSON: the caller keeps the text.
    return undefined;
  }
}

function sourceOf(context: unknown): string | undefined {
  const source = typeof context === 'object' && context !== null && 'source' in context ? context.source : undefined;
  return typeof source === 'string' ? source : undefined;
}

/** Whether a number's shortest form has the digits that were written: 1e999 and 2^53 + 1 have not. */
function isSameNumber(value: number, source: string): boolean {
  return Number.isFinite(value) && digits(String(value)) === digits(source);
}

/** Significant digits and their exponent, so that 1.50, 15e-1 and 1.5 are one. */
function digits(number: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(number) ?? [];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const significant = all.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + (all.length - significant.length)}`;
}

function isId(id: Json): id is RpcId {
  return typeof id === 'string' || typeof id === 'number' || id === null;
}

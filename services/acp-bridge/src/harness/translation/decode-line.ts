import { isUtf8 } from 'node:buffer';
import type { Json } from '@jetloop/contracts';
import { MAX_JSON_DEPTH, scanJson } from '@jetloop/session';
import { isObject, type Frame, type RpcId } from './frame.js';

/** A number that may not be what was written once it is read: very long, or with an exponent. */
const DOUBTFUL_NUMBER = /\d[\d.]{15}|\d[eE]/;

const flaws = {
  too_deep: `it is nested more than ${MAX_JSON_DEPTH} levels deep`,
  duplicate_key: 'a key is there twice',
  number: 'a number that JSON cannot write back as it came',
} as const;

/** Reads one line of JSON-RPC. What is none is kept as text, or as base64 where it is not UTF-8. */
export function decodeLine(bytes: Buffer): Frame {
  if (!isUtf8(bytes)) return { kind: 'undecodable', value: { base64: bytes.toString('base64') } };
  const text = bytes.toString('utf8');
  const message = parse(text);
  if (!isObject(message)) return { kind: 'undecodable', value: { text } };
  const { method, id } = message;
  const flaw = flawOf(message, text);
  const received = { message, text, flaw };
  if (typeof method === 'string') {
    if (id === undefined) return { ...received, kind: 'notification', method };
    if (!isId(id)) return { kind: 'undecodable', value: { text } };
    return { ...received, kind: 'request', method, idText: (flaw && writtenId(text)) ?? JSON.stringify(id) };
  }
  const answers = 'result' in message || 'error' in message;
  if (method === undefined && id !== undefined && isId(id) && answers) return { ...received, kind: 'response', id };
  return { kind: 'undecodable', value: { text } };
}

/** Undefined: it is no JSON. */
function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    // The caller keeps the text.
    return undefined;
  }
}

function flawOf(value: Json, text: string): string | undefined {
  if (isDeeper(value, MAX_JSON_DEPTH)) return flaws.too_deep;
  // Most agents write what JSON.stringify writes: there is nothing to look for.
  if (JSON.stringify(value) === text) return undefined;
  const flaw = scanJson(text)?.kind;
  if (flaw) return flaws[flaw];
  return DOUBTFUL_NUMBER.test(text) && !areNumbersKept(text) ? flaws.number : undefined;
}

/** Before anything else that looks at the whole value: deeper ones overflow the stack. */
function isDeeper(value: Json, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => isDeeper(item, levels - 1));
}

function areNumbersKept(text: string): boolean {
  let areKept = true;
  // The third argument, the number as it is written, is newer than the types.
  JSON.parse(text, (_key: string, item: unknown, ...context: unknown[]) => {
    if (typeof item === 'number' && !isSameNumber(item, sourceOf(context[0]) ?? '')) areKept = false;
    return item;
  });
  return areKept;
}

/** The id of a message as it is written, where it is a number: one of 64 bits is not what JSON makes of it. */
function writtenId(text: string): string | undefined {
  const written = new Map<unknown, string | undefined>();
  try {
    const message: unknown = JSON.parse(
      text,
      function (this: unknown, key: string, item: unknown, ...context: unknown[]) {
        if (key === 'id' && typeof item === 'number') written.set(this, sourceOf(context[0]));
        return item;
      },
    );
    return written.get(message);
  } catch {
    // Too deep to be looked at this way: the number stands as it was read.
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

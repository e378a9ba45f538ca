import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { PlannedResponse } from './planned-response.js';

/** How events are written: line ends and the space behind `data:` are the server's choice. */
export interface Framing {
  /** Default LF. */
  readonly lineEnd?: '\n' | '\r\n' | '\r';
  /** Default true. */
  readonly spaceAfterColon?: boolean;
}

/** Which protocol a path speaks. */
export type ReplayDialect = 'chat' | 'anthropic' | 'google';

/** The protocol that a path belongs to; `chat` where it is none of the others. */
export function dialectOf(path: string): ReplayDialect {
  if (/:(?:stream)?generateContent/i.test(path)) return 'google';
  return (path.split('?')[0] ?? '').endsWith('/messages') ? 'anthropic' : 'chat';
}

/**
 * The answer that a fixture records: `<name>.json` whole, `<name>.chunks.txt` as one event a line.
 * @throws when the folder has no such file
 */
export async function replayFixture(
  folder: string,
  name: string,
  options: { readonly whole: boolean; readonly dialect: ReplayDialect } & Framing,
): Promise<PlannedResponse> {
  if (options.whole) {
    const body = await readFile(join(folder, `${name}.json`), 'utf8');
    return { status: errorStatus(body) ?? 200, headers: { 'content-type': 'application/json' }, chunks: [body] };
  }
  const recorded = await readFile(join(folder, `${name}.chunks.txt`), 'utf8');
  const lines = recorded.split('\n').filter((line) => line.trim() !== '');
  const payloads = options.dialect === 'chat' ? [...lines, '[DONE]'] : lines;
  return {
    status: 200,
    headers: { 'content-type': 'text/event-stream' },
    chunks: payloads.map((payload) => eventOf(payload, options)),
  };
}

function eventOf(payload: string, options: { readonly dialect: ReplayDialect } & Framing): string {
  const { dialect, lineEnd = '\n', spaceAfterColon = true } = options;
  const colon = spaceAfterColon ? ': ' : ':';
  const type = dialect === 'anthropic' ? typeOf(payload) : undefined;
  const event = type === undefined ? '' : `event${colon}${type}${lineEnd}`;
  return `${event}data${colon}${payload}${lineEnd}${lineEnd}`;
}

function errorStatus(body: string): number | undefined {
  const parsed: unknown = JSON.parse(body);
  if (typeof parsed !== 'object' || parsed === null || !('error' in parsed)) return undefined;
  const { error } = parsed;
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  return typeof code === 'number' && code >= 400 && code < 600 ? code : 400;
}

const typed = z.looseObject({ type: z.string().optional().catch(undefined) });

function typeOf(payload: string): string | undefined {
  return typed.parse(JSON.parse(payload)).type;
}

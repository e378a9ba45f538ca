import { join } from 'node:path';
import { startReplayServer, type ReplayOptions, type ReplayServer } from '@jetloop/testing';
import { targetSchema, type Target } from '../catalogue/catalogue.js';
import type { ModelRequest } from './adapter.js';
import { Assembler, type Assembled } from './assemble.js';
import type { Part } from './part.js';
import { defaultAdapters } from './default-adapters.js';

export const OWN_FIXTURES = join(import.meta.dirname, '../../../../test/fixtures/providers');

export interface Answered {
  readonly parts: readonly Part[];
  readonly assembled: Assembled;
}

export function providerServer(options: Partial<ReplayOptions> = {}): Promise<ReplayServer> {
  return startReplayServer({ folder: OWN_FIXTURES, ...options });
}

export function requestTo(
  server: Pick<ReplayServer, 'url'>,
  { target, ...more }: Partial<Omit<ModelRequest, 'target'>> & { target?: Record<string, unknown> } = {},
): ModelRequest {
  const given = { provider: 'test', dialect: 'chat', model: 'chat-text', baseUrl: `${server.url}/v1`, ...target };
  const parsed: Target = { ...targetSchema.parse(given), name: 'main' };
  const messages = [{ role: 'user' as const, content: [{ type: 'text' as const, text: 'Which colour has the sky?' }] }];
  return { target: parsed, systemPrompt: 'You are brief.', messages, tools: [], step: 1, ...more };
}

/** All parts of one attempt. Fails when there is not exactly one end, last. */
export async function attempt(
  request: ModelRequest,
  { signal = new AbortController().signal, env = {}, onPart = (_part: Part): void => undefined } = {},
): Promise<Answered> {
  const parts: Part[] = [];
  const assembler = new Assembler(request.target);
  for await (const part of defaultAdapters(env)[request.target.dialect].attempt(request, signal)) {
    parts.push(part);
    assembler.add(part);
    onPart(part);
  }
  const ends = parts.filter(({ kind }) => kind === 'finish' || kind === 'error');
  if (ends.length !== 1 || ends[0] !== parts.at(-1)) throw new Error(`expected one end, last; got ${ends.length}`);
  return { parts, assembled: assembler.result() };
}

export function textOf({ assembled }: Answered): string {
  return assembled.content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

export function errorOf({ assembled: { end } }: Answered) {
  if (!end || !('error' in end)) throw new Error('expected an error');
  return end.error;
}

/** One event of a stream. */
export function event(choice: Record<string, unknown>, more: Record<string, unknown> = {}): string {
  return `data: ${JSON.stringify({ model: 'm', choices: [{ index: 0, ...choice }], ...more })}\n\n`;
}

export function callEvent(...calls: Record<string, unknown>[]): string {
  return event({ delta: { tool_calls: calls } });
}

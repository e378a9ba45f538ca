import type { Json } from '@jetloop/contracts';
import { decodeLine } from './decode-line.js';
import type { Frame } from './frame.js';
import { answer, breakOff, translate } from './translate.js';
import { beginTranslation, type Translated, type Translation } from './translation.js';

export const SESSION = 'agent-1';
export const where = { tenant: 't', session: 's', turn: 2, step: 1, attempt: 3 };

/** A line that a scripted agent writes. */
export function update(sessionUpdate: string, fields: Record<string, Json> = {}, sessionId = SESSION): string {
  return JSON.stringify({
    jsonrpc: '2.0',
    method: 'session/update',
    params: { sessionId, update: { sessionUpdate, ...fields } },
  });
}

export function chunk(tag: string, text: string, more: Record<string, Json> = {}): string {
  return update(tag, { content: { type: 'text', text }, ...more });
}

/** What lines become, one list a line. */
export class Script {
  state: Translation = { ...beginTranslation(where), agentSession: SESSION };
  readonly all: Translated[] = [];

  say(line: string | Buffer, now = 1_000): Translated[] {
    const { state, translated } = translate(this.state, frameOf(line), now);
    return this.take(state, translated);
  }

  answer(message: Record<string, Json>): Translated[] {
    const frame = frameOf(JSON.stringify(message));
    if (frame.kind !== 'response') throw new Error('expected an answer');
    const { state, translated } = answer(this.state, frame, 'stop');
    return this.take(state, translated);
  }

  end(): Translated[] {
    const { state, translated } = breakOff(this.state);
    return this.take(state, translated);
  }

  private take(state: Translation, translated: Translated[]): Translated[] {
    this.state = state;
    this.all.push(...translated);
    return translated;
  }
}

export function frameOf(line: string | Buffer): Frame {
  return decodeLine(typeof line === 'string' ? Buffer.from(line) : line);
}

/** The events and deltas alone, without their stamps. */
export function plain(translated: readonly Translated[]): unknown[] {
  return translated.map((one) => ('event' in one ? one.event : one.delta));
}

export function sources(translated: readonly Translated[]): string[] {
  return translated.map((one) =>
    'event' in one ? (one.event.type === 'harness.raw' ? one.event.data.source : one.event.type) : one.delta.kind,
  );
}

import { describe, expect, it } from '@jest/globals';
import type { ContentBlock, RecordedEvent } from '@jetloop/contracts';
import { catalogueOf } from '../catalogue/catalogue.js';
import { gate } from './gate.js';
import { jobFacts, type JobFacts } from './job-facts.js';

const plain: JobFacts = { images: [], thinking: false, tokens: 10, afterToolRound: false };
const png = { type: 'image' as const, mediaType: 'image/png', base64: 'iVBORw0KGgo=' };
const heic = { ...png, mediaType: 'image/heic' };
const linked = { type: 'image' as const, mediaType: 'image/png', url: 'https://example.org/a.png' };

function target(capabilities: Record<string, unknown>) {
  const targets = { a: { provider: 'test', dialect: 'scripted', model: 'm', capabilities } };
  return catalogueOf({ targets }, 'test').get('a')!;
}

function codeOf(capabilities: Record<string, unknown>, facts: Partial<JobFacts>): string | undefined {
  return gate(target(capabilities), { ...plain, ...facts })?.code;
}

describe('gate', () => {
  it('lets a plain text through everywhere', () => {
    expect(codeOf({}, {})).toBeUndefined();
  });

  it('asks for vision, the media type, and URLs', () => {
    expect(codeOf({}, { images: [png] })).toBe('unsupported_capability');
    expect(codeOf({ vision: true }, { images: [png] })).toBeUndefined();
    expect(codeOf({ vision: true }, { images: [linked] })).toBe('unsupported_capability');
    expect(codeOf({ vision: true, imageUrls: true }, { images: [linked] })).toBeUndefined();
  });

  it('knows heic in `supported` and in a list, not in `common`', () => {
    expect(codeOf({ vision: true }, { images: [heic] })).toBe('unsupported_capability');
    expect(codeOf({ vision: true, imageMediaTypes: 'supported' }, { images: [heic] })).toBeUndefined();
    expect(codeOf({ vision: true, imageMediaTypes: ['image/heic'] }, { images: [png] })).toBe('unsupported_capability');
  });

  it('asks for thinking when it is switched on', () => {
    expect(codeOf({}, { thinking: true })).toBe('unsupported_capability');
    expect(codeOf({ thinking: true }, { thinking: true })).toBeUndefined();
  });

  it('refuses what cannot fit the context window', () => {
    expect(codeOf({ contextWindow: 10 }, { tokens: 10 })).toBeUndefined();
    expect(codeOf({ contextWindow: 10 }, { tokens: 11 })).toBe('context_overflow');
  });
});

describe('jobFacts', () => {
  const said = (sequence: number, turn: number, content: ContentBlock[]): RecordedEvent => ({
    type: 'user.message',
    sequence,
    version: 1,
    data: { turn, content, source: { kind: 'user' } },
  });
  const input = { thinking: false, systemPrompt: '', messages: [], tools: [] };

  it('counts the images of the turn alone: older ones do not gate', () => {
    const events = [said(0, 1, [png]), said(1, 2, [heic])];
    expect(jobFacts({ ...input, events, turn: 2 }).images).toEqual([heic]);
  });

  it('estimates tokens from text and tools, images not counted', () => {
    const messages = [{ role: 'user' as const, content: [png, { type: 'text' as const, text: 'x'.repeat(400) }] }];
    expect(jobFacts({ ...input, messages, events: [], turn: 1 }).tokens).toBe(100);
  });

  it('sees a tool round of this turn, not one of another', () => {
    const result: RecordedEvent = {
      type: 'tool.result',
      sequence: 1,
      version: 1,
      data: { turn: 1, step: 1, n: 0, callId: 'c', content: [], isError: false, durationMs: 1 },
    };
    expect(jobFacts({ ...input, events: [result], turn: 1 }).afterToolRound).toBe(true);
    expect(jobFacts({ ...input, events: [result], turn: 2 }).afterToolRound).toBe(false);
  });
});

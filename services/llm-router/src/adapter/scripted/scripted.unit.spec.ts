import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import type { DerivedMessage } from '@jetloop/contracts';
import { catalogueOf, type CatalogueInput } from '../../catalogue/catalogue.js';
import type { ModelRequest } from '../adapter.js';
import type { Part } from '../part.js';
import { ScriptedAdapter } from './scripted.adapter.js';

type Script = NonNullable<CatalogueInput['targets'][string]['script']>;

const user = (text: string): DerivedMessage => ({ role: 'user', content: [{ type: 'text', text }] });
const result = (text: string): DerivedMessage => ({
  role: 'tool',
  callId: 'c',
  name: 't',
  content: [{ type: 'text', text }],
});

async function partsOf(
  script: Script,
  request: Partial<ModelRequest> = {},
  signal = new AbortController().signal,
  more: { journal?: string } = {},
): Promise<Part[]> {
  const target = { provider: 'test', dialect: 'scripted', model: 'm', script, ...more } as const;
  const found = catalogueOf({ targets: { a: target } }, 'test').get('a')!;
  const parts: Part[] = [];
  const full = { target: found, systemPrompt: '', messages: [user('hello')], tools: [], step: 1, ...request };
  for await (const part of new ScriptedAdapter().attempt(full, signal)) parts.push(part);
  return parts;
}

async function textFor(script: Script, request: Partial<ModelRequest> = {}): Promise<string> {
  const parts = await partsOf(script, request);
  return parts.map((part) => (part.kind === 'text' ? part.text : '')).join('');
}

describe('ScriptedAdapter', () => {
  it('answers by the first rule that matches', async () => {
    const script: Script = [
      { match: { step: 2 }, reply: { text: 'second' } },
      { match: { contains: 'weather' }, reply: { text: 'sunny' } },
      { reply: { text: 'anything' } },
      { reply: { text: 'never' } },
    ];
    expect(await textFor(script, { step: 2 })).toBe('second');
    expect(await textFor(script, { messages: [user('the weather?')] })).toBe('sunny');
    expect(await textFor(script)).toBe('anything');
  });

  it('looks for tool results only behind the last user message, context and steering not counted', async () => {
    const script: Script = [
      { match: { hasToolResult: true }, reply: { text: 'after' } },
      { match: { hasToolResult: false }, reply: { text: 'before' } },
    ];
    const aside = user('<context source="policy:p">mind this</context>');
    expect(await textFor(script, { messages: [user('a'), result('x')] })).toBe('after');
    expect(await textFor(script, { messages: [user('a'), result('x'), aside] })).toBe('after');
    expect(await textFor(script, { messages: [user('a'), result('x'), user('b')] })).toBe('before');
  });

  it('looks into the last result', async () => {
    const script: Script = [
      { match: { resultContains: 'not ok' }, reply: { text: 'mend' } },
      { reply: { text: 'done' } },
    ];
    expect(await textFor(script, { messages: [user('a'), result('not ok 1')] })).toBe('mend');
    expect(await textFor(script, { messages: [user('a'), result('not ok 1'), result('ok 1')] })).toBe('done');
  });

  it('calls tools with an object or with raw text, whatever that text is', async () => {
    const toolCalls = [
      { name: 'grep', arguments: { pattern: 'x' } },
      { name: 'bash', id: 'mine', arguments: '{broken' },
    ];
    const parts = await partsOf([{ reply: { reasoning: 'hm', toolCalls } }]);
    expect(parts).toMatchObject([
      { kind: 'reasoning', text: 'hm' },
      { kind: 'call', call: 0, name: 'grep', arguments: '{"pattern":"x"}' },
      { kind: 'call', call: 1, id: 'mine', name: 'bash', arguments: '{broken' },
      { kind: 'usage' },
      { kind: 'finish', reason: 'tool-calls' },
    ]);
  });

  it('gives every replica the same parts', async () => {
    const script: Script = [{ reply: { text: 'yes', toolCalls: [{ name: 't' }] } }];
    expect(await partsOf(script)).toEqual(await partsOf(script));
  });

  it('fails as told, and says so when no rule matches', async () => {
    const failing: Script = [{ error: { code: 'overloaded', message: 'busy', status: 503 } }];
    expect(await partsOf(failing)).toEqual([
      { kind: 'error', error: { code: 'overloaded', message: 'busy', retryable: true, status: 503 } },
    ]);
    expect(await partsOf([{ match: { step: 9 }, reply: {} }])).toEqual([
      {
        kind: 'error',
        error: {
          code: 'bad_request',
          message: 'the script of target a has no rule for step 1 of this turn',
          retryable: false,
        },
      },
    ]);
  });

  it('adds each request to its journal', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'jetloop-journal-'));
    const journal = join(folder, 'requests.jsonl');
    const script: Script = [{ reply: { text: 'yes' } }];
    await partsOf(script, {}, undefined, { journal });
    await partsOf(script, { step: 2, messages: [user('again')] }, undefined, { journal });
    const lines = (await readFile(journal, 'utf8')).trim().split('\n');
    expect(lines.map((line): unknown => JSON.parse(line))).toMatchObject([
      { target: 'a', step: 1, messages: [user('hello')], tools: [] },
      { target: 'a', step: 2, messages: [user('again')] },
    ]);
    await rm(folder, { recursive: true });
    expect(await partsOf(script, {}, undefined, { journal })).toMatchObject([
      { kind: 'error', error: { code: 'server_error', message: expect.stringContaining('ENOENT') } },
    ]);
  });

  it('says its text in pieces, and an abort cuts it', async () => {
    const text = 'a text that is long enough for two pieces, or three';
    expect(await textFor([{ reply: { text }, pieceDelayMs: 1 }])).toBe(text);
    const controller = new AbortController();
    setTimeout(() => {
      controller.abort();
    }, 20);
    const started = performance.now();
    const parts = await partsOf([{ reply: { text: 'late' }, delayMs: 30_000 }], {}, controller.signal);
    expect(parts).toMatchObject([{ kind: 'error', error: { code: 'aborted' } }]);
    expect(performance.now() - started).toBeLessThan(20_000);
  });
});

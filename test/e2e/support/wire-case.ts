import { expect } from '@jest/globals';
import type { ReplayServer } from '@jetloop/testing';
import { expectedOf } from './recorded-answer.js';
import type { TestSystem } from './test-system.js';

export interface WireCase {
  /** Fixture of the first model call: it asks for the tool `weather`, which the agent lacks. */
  readonly call: string;
  /** Fixture of the second one: text. */
  readonly text: string;
  /** input, cache read, output of both. */
  readonly callUsage: readonly [number, number, number];
  readonly textUsage: readonly [number, number, number];
}

/** The target that serves fixtures by their names. */
export function replayTarget(server: ReplayServer) {
  return {
    provider: 'replay',
    dialect: 'chat' as const,
    model: 'queued',
    baseUrl: `${server.url}/v1`,
    prices: { input: 1, output: 2 },
  };
}

/**
 * A turn on a real wire: the provider streams a tool call, gets its result, streams the answer. What the stream held must
 * stand in SQL: reasoning, call, text, and usage by bucket.
 */
export async function expectRightInSql(
  system: TestSystem,
  server: ReplayServer,
  folder: string,
  wire: WireCase,
): Promise<void> {
  server.enqueue(wire.call, wire.text);
  const before = server.requests.length;
  const session = await system.create('replay', { tools: ['read_file'] });
  expect(await session.prompt('What is the weather like?')).toEqual({ kind: 'completed' });
  const where = `tenant = '${system.tenant}' and session_id = '${session.id}'`;
  const called = expectedOf(folder, wire.call);
  const said = expectedOf(folder, wire.text);
  const [[reasoning] = []] = await system.sql(
    `select coalesce(string_agg(block->>'text', ''), '') from messages, jsonb_array_elements(content) block
     where ${where} and role = 'assistant' and step = 1 and block->>'type' = 'reasoning'`,
  );
  expect(reasoning).toBe(called.reasoning);
  expect(await system.sql(`select text from messages where ${where} and role = 'assistant' and step = 2`)).toEqual([
    [said.text],
  ]);
  expect(said.text.length).toBeGreaterThan(10);
  expect(await system.sql(`select name, arguments, is_error, error_code from tool_calls where ${where}`)).toEqual([
    ['weather', ...called.calls, true, 'unknown_tool'],
  ]);
  const usage = await system.sql(
    `select input_tokens, cache_read_tokens, output_tokens from model_attempts where ${where} order by step`,
  );
  expect(usage).toEqual([[...wire.callUsage], [...wire.textUsage]]);
  const second = server.requests[before + 1]?.body as { messages: { role: string; tool_call_id?: string }[] };
  expect(second.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool']);
}

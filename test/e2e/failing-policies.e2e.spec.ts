import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seams, type EventType, type Seam } from '@jetloop/contracts';
import { callsOnce } from './support/messages.js';
import type { TestSession } from './support/test-session.js';
import { TestSystem } from './support/test-system.js';

const echoes = callsOnce('I have said it.', { name: 'bash', arguments: { command: 'echo one' } });
const LONG = 'a long story, told again and again. '.repeat(400);
const compacts = { seam: 'pre-step', when: { 'estimated-tokens': { gt: 2_000 } }, decide: { compact: true } };

/** A way to fail: the policy, and what the log calls it. */
interface Way {
  readonly policy: object;
  readonly code: string;
  readonly status: string;
}
const ways: Readonly<Record<string, (url: string) => Way>> = {
  'exit-1': () => ({ policy: { command: 'echo broken >&2; exit 1' }, code: 'exit_1', status: 'exit 1' }),
  killed: () => ({ policy: { command: 'kill -9 $$' }, code: 'killed', status: 'killed by SIGKILL' }),
  timeout: () => ({ policy: { command: 'sleep 60', timeout: '300ms' }, code: 'timeout', status: 'timeout' }),
  'bad-json': () => ({ policy: { command: `echo '{"decision'` }, code: 'invalid_json', status: 'invalid_json' }),
  'http-500': (url) => ({ policy: { webhook: { url, secret: 'env:PATH' } }, code: 'http_500', status: 'HTTP 500' }),
};
const modes = ['enforce', 'observe'] as const;
const nameOf = (way: string, seam: Seam, mode: string): string => `${way}-${seam}-${mode}`;

const setOf = (name: string, seam: Seam, mode: string, policy: object): string =>
  JSON.stringify({
    name,
    agents: [name],
    policies: [
      ...(seam === 'pre-compact' ? [{ name: 'compacts', ...compacts }] : []),
      { name: 'fails', order: 1, seam, mode, ...policy },
    ],
  });

const completed = { kind: 'completed' };
const typesOf = async (session: TestSession, ...wanted: EventType[]) =>
  (await session.types()).filter((type) => wanted.some((one) => one === type));

/** What the failure of an enforcing policy does at each seam. */
const effects: Readonly<Record<Seam, (session: TestSession, end: unknown, code: string) => Promise<void> | void>> = {
  'session-start': (_session, end) => {
    expect(end).toEqual(completed);
  },
  'prompt-submit': async (session, end, code) => {
    expect(end).toMatchObject({ kind: 'error', code });
    expect(await typesOf(session, 'prompt.blocked', 'turn.error', 'assistant.message')).toEqual([
      'prompt.blocked',
      'turn.error',
    ]);
  },
  'pre-step': async (session, end, code) => {
    expect(end).toMatchObject({ kind: 'error', code });
    expect(await typesOf(session, 'turn.error', 'step.start', 'assistant.message')).toEqual(['turn.error']);
  },
  'pre-tool': async (session, end) => {
    expect(end).toEqual(completed);
    expect(await session.data('tool.result')).toMatchObject([{ isError: true, error: { code: 'denied' } }]);
  },
  'post-tool': async (session, end) => {
    expect(end).toEqual(completed);
    const [result] = await session.data('tool.result');
    expect(result).toMatchObject({ isError: true });
    expect(JSON.stringify(result)).not.toContain('one\\n');
  },
  'turn-continuation': (_session, end) => {
    expect(end).toEqual(completed);
  },
  'pre-compact': async (session, end) => {
    expect(end).toEqual(completed);
    expect(await typesOf(session, 'compaction.start')).toEqual([]);
  },
};

describe('H3 what a failing policy does to a session', () => {
  let system: TestSystem;
  let web: Server;
  let url = '';
  beforeAll(async () => {
    web = createServer((_request, response) => response.writeHead(500).end('{}'));
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(web.address() as AddressInfo).port}/`;
    const policies = Object.entries(ways).flatMap(([way, made]) =>
      seams.flatMap((seam) => modes.map((mode) => setOf(nameOf(way, seam, mode), seam, mode, made(url).policy))),
    );
    system = await TestSystem.start({ policies, hookPolicy: { webhookAddresses: ['127.0.0.1'] } });
  });
  afterAll(async () => {
    await system.stop();
    await new Promise((resolve) => web.close(resolve));
  });

  /** A turn that meets the seam. */
  const meet = async (way: string, seam: Seam, mode: string) => {
    const name = nameOf(way, seam, mode);
    const session = await system.create(echoes, { name, tools: ['*'] });
    if (seam === 'pre-compact') await session.prompt(LONG);
    return { session, end: await session.prompt('say one'), policy: `${name}/fails` };
  };

  it.each(Object.keys(ways))(
    '%s of an enforcing policy: each seam has its effect, and the log says why',
    async (way) => {
      const { code, status } = ways[way]!(url);
      await Promise.all(
        seams.map(async (seam) => {
          const { session, end, policy } = await meet(way, seam, 'enforce');
          await effects[seam](session, end, code);
          const failed = { seam, policy, decision: 'failed' };
          expect(await session.data('policy.decided')).toContainEqual(expect.objectContaining(failed));
          const run = { seam, hook: policy, status, durationMs: expect.any(Number) };
          expect(await session.data('hook.result')).toContainEqual(expect.objectContaining(run));
        }),
      );
    },
  );

  it.each(Object.keys(ways))(
    '%s of an observing policy: the loop goes on, and the failure is in the log',
    async (way) => {
      const { code, status } = ways[way]!(url);
      await Promise.all(
        seams.map(async (seam) => {
          const { session, end, policy } = await meet(way, seam, 'observe');
          expect(end).toEqual(completed);
          expect(JSON.stringify((await session.data('tool.result')).at(-1)?.content)).toContain('one');
          const reason: unknown = expect.stringMatching(`^${code}: `);
          const failed = { seam, policy, decision: 'failed', observed: true, reason };
          expect(await session.data('policy.decided')).toContainEqual(expect.objectContaining(failed));
          const run = { seam, hook: policy, status };
          expect(await session.data('hook.result')).toContainEqual(expect.objectContaining(run));
        }),
      );
    },
  );
});

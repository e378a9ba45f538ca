import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { agentSpecSchema, type SessionEvent } from '@jetloop/contracts';
import { applyTopology, Bus, Journal } from '@jetloop/messaging';
import { testServers, type TestServers } from '@jetloop/testing';
import { runProgram } from './program.js';
import { entriesOf, events } from './testing/entries.js';
import { recordingIo } from './testing/io.js';

let servers: TestServers;
let bus: Bus;
let folder: string;

const source = { kind: 'user' } as const;
const content = [{ type: 'text' as const, text: 'please drop the table' }];
const answer: SessionEvent = {
  type: 'assistant.message',
  data: {
    ...{ turn: 1, step: 1, finishReason: 'tool-calls', model: null, usage: null, cost: null, attempts: [] },
    content: [{ type: 'tool-call', id: 'call-0', name: 'bash', arguments: '{"command":"rm x"}' }],
  },
};
/** A turn that no policy was asked about. */
const log: SessionEvent[] = [
  {
    type: 'session.created',
    data: { agent: agentSpecSchema.parse({ name: 'coder' }), source: 'startup', workspace: '/srv/ws' },
  },
  { type: 'message.queued', data: { messageId: 'm1', lane: 'turn', content, source } },
  events.turnStart(),
  { type: 'user.message', data: { turn: 1, messageId: 'm1', content, source } },
  {
    type: 'tools.listed',
    data: { digest: 'd', tools: [{ name: 'bash', readonly: false, idempotent: false, schemaHash: 'h' }] },
  },
  events.stepStart(1),
  answer,
  events.call(0, 'bash', { command: 'rm x' }),
  events.result(0, 'the key is hunter2'),
  { type: 'step.end', data: { turn: 1, step: 1 } },
  events.stepStart(2),
  events.answer(2, 'done'),
  { type: 'step.end', data: { turn: 1, step: 2 } },
  events.turnEnd(),
];
const strict = `
name: strict
policies:
  - { name: hello, seam: session-start, decide: { context: be careful } }
  - { name: no-drop, seam: prompt-submit, when: { prompt: { contains: drop } }, decide: { block: nothing is dropped } }
  - { name: no-rm, seam: pre-tool, when: { tool: bash, command: { runs: [rm] } }, decide: { deny: nothing is deleted } }
  - { name: no-key, seam: post-tool, decide: { redact: { patterns: [hunter2], with: '***' } } }
  - { name: small, seam: pre-step, when: { estimated-tokens: { gt: 5 } }, decide: { compact: true } }
  - { name: twice, seam: turn-continuation, when: { default: stop }, decide: { continue: look again } }
  - { name: outside, seam: pre-tool, order: -1, command: touch /nonexistent/never }
`;

beforeAll(async () => {
  servers = await testServers();
  bus = await Bus.connect({ url: servers.natsUrl, name: 'cli-test' });
  await applyTopology(bus);
  folder = await mkdtemp(join(tmpdir(), 'jetloop-cli-'));
  await writeFile(join(folder, 'strict.yaml'), strict);
  await writeFile(
    join(folder, 'bad.yaml'),
    'name: bad\npolicies:\n  - { name: a, seam: pre-tool, decide: { block: x } }\n',
  );
  const { tenant } = servers;
  const commit = { tenant, session: 's1', causation: 'c1', actor: 'tester', at: new Date(0).toISOString() };
  await new Journal(bus).commit({ ...commit, events: entriesOf(...log).map(({ event }) => event) }, 0);
});
afterAll(async () => {
  await bus.close();
  await servers.stop();
  await rm(folder, { recursive: true, force: true });
});

async function jetloop(...args: string[]) {
  const { io, out, err } = recordingIo({ env: { NATS_URL: servers.natsUrl } });
  const exitCode = await runProgram(['policies', ...args], io);
  return { exitCode, out: out(), err: err() };
}
const json = (out: string): unknown[] =>
  out
    .split('\n')
    .filter(Boolean)
    .map((line): unknown => JSON.parse(line));

describe('policies', () => {
  it('are put, listed and removed', async () => {
    const file = join(folder, 'strict.yaml');
    expect((await jetloop('put', file)).out).toMatch(/^policy set strict: revision \d+\n$/);
    expect((await jetloop('put', file)).out).toMatch(/^policy set strict: revision \d+, unchanged\n$/);
    expect(json((await jetloop('list', '--json')).out)).toMatchObject([{ name: 'strict', set: { name: 'strict' } }]);
    expect((await jetloop('list')).out).toMatch(/strict +\d+ +\* +\* +7 +session-start, prompt-submit/);
    expect((await jetloop('remove', 'strict')).exitCode).toBe(0);
    expect(json((await jetloop('list', '--json')).out)).toEqual([]);
    const again = await jetloop('remove', 'strict');
    expect(again).toMatchObject({ exitCode: 2, err: expect.stringContaining('There is no policy set strict') });
  });

  it('are refused with file, line, path and what was expected; then none of the files is stored', async () => {
    const { exitCode, err } = await jetloop('put', join(folder, 'strict.yaml'), join(folder, 'bad.yaml'));
    expect(exitCode).toBe(2);
    expect(err).toContain('bad.yaml:3: policies[0].decide.block: expected the seam prompt-submit');
    expect(json((await jetloop('list', '--json')).out)).toEqual([]);
  });

  it('are tested against a recorded session: what each seam would have decided, and nothing runs', async () => {
    const { out, exitCode } = await jetloop(
      'test',
      join(folder, 'strict.yaml'),
      's1',
      '--tenant',
      servers.tenant,
      '--json',
    );
    expect(exitCode).toBe(0);
    const decided = (decision: object) => ({ result: { status: 'decided', decision } });
    expect(json(out)).toMatchObject([
      { sequence: 0, ...decided({ decision: 'none', context: [{ policy: 'strict/hello' }] }) },
      { sequence: 3, ...decided({ decision: 'block', policy: 'strict/no-drop', reason: 'nothing is dropped' }) },
      { sequence: 5, ...decided({ decision: 'compact', policy: 'strict/small' }) },
      { sequence: 7, ...decided({ decision: 'deny', policy: 'strict/no-rm' }), notAsked: ['strict/outside'] },
      { sequence: 8, ...decided({ decision: 'accept', content: [{ text: 'the key is ***' }] }) },
      { sequence: 9, ...decided({ decision: 'none' }) },
      { sequence: 10, ...decided({ decision: 'compact' }) },
      { sequence: 12, ...decided({ decision: 'continue', reason: 'look again' }) },
    ]);
    const table = (await jetloop('test', join(folder, 'strict.yaml'), 's1', '--tenant', servers.tenant)).out;
    expect(table).toMatch(/7 +pre-tool +bash +deny +strict\/no-rm +nothing is deleted.*strict\/outside was not asked/);
    expect(table).toMatch(/8 +post-tool +bash +rewrite +strict\/no-key/);
  });

  it('are tested by the name of a stored set, too', async () => {
    await jetloop('put', join(folder, 'strict.yaml'));
    const { out } = await jetloop('test', 'strict', 's1', '--tenant', servers.tenant, '--json');
    expect(json(out)).toHaveLength(8);
    const { exitCode, err } = await jetloop('test', 'absent', 's1', '--tenant', servers.tenant);
    expect(exitCode).toBe(2);
    expect(err).toContain('expected one of strict');
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { JetloopClient } from '@jetloop/client';
import { runProgram } from './program.js';
import { recordingIo } from './testing/io.js';
import { JetloopProcess, type StayingProcess } from './testing/jetloop-process.js';

const MODELS = `
targets:
  default:
    provider: scripted
    dialect: scripted
    model: script
    script:
      - match: { contains: fail }
        error: { code: auth, message: no such key }
      - match: { hasToolResult: true }
        reply: { text: 'It slept.' }
      - match: { contains: sleep }
        reply: { toolCalls: [{ name: bash, arguments: { command: sleep 60 } }] }
      - match: { contains: weather }
        reply: { toolCalls: [{ name: weather, arguments: { town: Ulm } }] }
      - match: { contains: ask }
        reply: { toolCalls: [{ name: bash, arguments: { command: echo asked } }] }
      - reply: { text: 'Good morning.' }
`;
const POLICIES = `
name: guard
policies:
  - name: ask-echo
    seam: pre-tool
    when: { tool: bash, command: { runs: [echo] } }
    decide: { ask: May it echo? }
`;
const WEATHER = `
export default {
  ...{ name: 'weather', description: 'The weather.', inputSchema: { type: 'object' }, readonly: true, idempotent: true },
  fit: (args) => ({ ok: true, value: args }),
  run: ({ town }) => 'Rain in ' + town,
};
`;
const AGENT = 'name: greeter\nmodel: { chain: [default] }\ntools: [bash]\n';

let jetloop: JetloopProcess;
let up: StayingProcess;
let natsUrl: string;

beforeAll(async () => {
  const files = { 'models.yaml': MODELS, 'policies.yaml': POLICIES, 'agent.yaml': AGENT, 'weather.mjs': WEATHER };
  const env = { JETLOOP_TOOL_MODULES: './weather.mjs', JETLOOP_TENANT_LIMIT: '8' };
  jetloop = await JetloopProcess.create(files, env);
  up = jetloop.start('up', '--models', 'models.yaml', '--policies', 'policies.yaml', '--json');
  natsUrl = (await up.until(/"natsUrl":"([^"]+)"/))[1] ?? '';
});
afterAll(async () => {
  await up.end('SIGTERM');
  await jetloop.remove();
});

/** A command of this process, in the folder of the one that runs: what a process of its own would do in a tenth of the time. */
async function here(...args: string[]) {
  const { io, out, err } = recordingIo({ folder: jetloop.folder, env: jetloop.env });
  const exitCode = await runProgram(
    args.map((arg) => arg.replace('@', `${jetloop.folder}/`)),
    io,
  );
  return { exitCode, out: out(), err: err() };
}
const objects = ({ out }: { out: string }) =>
  out
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
const typesOf = (lines: readonly Record<string, unknown>[]) => lines.map(({ type }) => type);

describe('other processes while `jetloop up` runs', () => {
  it('send begins a session, tail follows it to the end of its turn and goes on from a sequence', async () => {
    const sent = await jetloop.run('send', 's1', 'Hello', '--create', '--nats', natsUrl);
    expect(sent).toMatchObject({ exitCode: 0, err: '' });
    expect(sent.out).toMatch(/^accepted: message \S+ is event 0 of session s1\n/);
    const tail = await jetloop.run('tail', 's1', '--until-idle', '--json', '--nats', natsUrl);
    expect(tail.exitCode).toBe(0);
    const lines = objects(tail);
    expect(lines.map(({ sequence }) => sequence)).toEqual(lines.map((_, index) => index));
    expect(typesOf(lines)).toEqual(expect.arrayContaining(['session.created', 'assistant.message', 'turn.end']));

    const again = await here('send', 's1', 'And again', '--message-id', 'm2', '--when-busy', 'reject', '--json');
    const from = String(objects(again)[0]?.['sequence']);
    expect(await here('send', 's1', 'And again', '--message-id', 'm2', '--json')).toEqual(again);
    const rest = objects(await here('tail', 's1', '--from', from, '--until-idle', '--json'));
    expect(rest[0]).toMatchObject({ type: 'message.queued', sequence: Number(from) });
    expect(typesOf(rest).filter((type) => type === 'turn.end')).toHaveLength(1);
  });

  it('tail shows events as they come until ^C, and cancel ends the turn', async () => {
    await here('send', 's2', 'Please sleep', '--create');
    const tail = jetloop.start('tail', 's2');
    await tail.until(/ tool\.call +bash sleep 60\n/);
    const idle = here('tail', 's2', '--until-idle');
    expect(await jetloop.run('cancel', 's2', '--reason', 'enough')).toMatchObject({ exitCode: 0, err: '' });
    expect((await idle).exitCode).toBe(1);
    await tail.until(/ turn\.end +turn 1: aborted: enough\n/);
    const { exitCode, err } = await tail.end();
    expect(exitCode).toBe(0);
    expect(err).toMatch(/^go on: jetloop tail s2 --from \d+\n$/);
    expect((await here('cancel', 's2')).out).toBe('nothing to cancel: session s2 is idle\n');
  });

  it('sessions lists them, the last active one first', async () => {
    const listed = await jetloop.run('sessions', '--json');
    expect(objects(listed).map(({ session }) => session)).toEqual(['s2', 's1']);
    expect((await here('sessions', '--limit', '1')).out).toMatch(/\ns2 +\d+ +turn\.end +\d{4}-/);
  });

  it('an approval that waits is listed, and decided from elsewhere', async () => {
    await here('send', 's3', 'Please ask', '--create');
    await untilEvent('s3', 'approval.requested');
    const [waiting] = objects(await here('approvals', 'list', 's3', '--json'));
    expect(waiting).toMatchObject({ tool: 'bash', question: expect.stringContaining('May it echo?') });
    const id = String(waiting?.['approvalId']);
    const [listed] = objects(await here('sessions', '--limit', '1', '--json'));
    expect(listed).toMatchObject({ session: 's3', waitsFor: [`approval ${id}`] });
    expect((await here('sessions', '--limit', '1')).out).toContain(`approval ${id}`);
    const approved = await here('approvals', 'approve', 's3', id, '--note', 'fine');
    expect(approved).toMatchObject({ exitCode: 0, err: '', out: expect.stringMatching(/^approved: event \d+ of/) });
    const late = await here('approvals', 'deny', 's3', id);
    expect(late.exitCode).toBe(2);
    expect(late.err).toContain('was decided before: approved');
    expect((await here('tail', 's3', '--until-idle')).out).toContain('It slept.');
    expect((await here('approvals', 'list', 's3')).out).toContain('(0 rows)');
    expect(await decisionOf('s3')).toEqual({ outcome: 'approved', note: 'fine', isError: false });
    expect(objects(await here('sessions', '--limit', '1', '--json'))).toMatchObject([{ session: 's3', waitsFor: [] }]);
  });

  it('an approval that is denied: the tool does not run, and the note is in the log', async () => {
    await here('send', 's7', 'Please ask', '--create');
    await untilEvent('s7', 'approval.requested');
    const [waiting] = objects(await here('approvals', 'list', 's7', '--json'));
    const id = String(waiting?.['approvalId']);
    const [denied] = objects(await here('approvals', 'deny', 's7', id, '--note', 'not now', '--json'));
    expect(denied).toMatchObject({ session: 's7', approvalId: id, outcome: 'rejected' });
    expect((await here('tail', 's7', '--until-idle')).exitCode).toBe(0);
    expect(await decisionOf('s7')).toEqual({ outcome: 'rejected', note: 'not now', isError: true });
    expect((await here('approvals', 'list', 's7')).out).toContain('(0 rows)');
    expect((await here('approvals', 'list', 's7', '--all')).out).toMatch(/rejected by \S+/);
  });

  it('steering is accepted while a turn is open; a closed session accepts nothing', async () => {
    await here('send', 's4', 'Please sleep', '--create');
    expect(await here('send', 's4', 'Be quick', '--steer')).toMatchObject({ exitCode: 0, err: '' });
    expect(await here('close', 's4', '--reason', 'done')).toMatchObject({ exitCode: 0, err: '' });
    const { exitCode, out } = await here('tail', 's4');
    expect(exitCode).toBe(0);
    expect(out).toMatch(/message\.queued +"Be quick" \(step, /);
    expect(out).toMatch(/session\.closed +done\n$/);
    const refused = await here('send', 's4', 'More');
    expect(refused.exitCode).toBe(2);
    expect(refused.err).toContain('The session is closed');
  });

  it('run, show and sql work on the services that run', async () => {
    const ran = await here('run', 'Hello', '--session', 's1', '--json');
    expect(ran.exitCode).toBe(0);
    expect(objects(ran).at(-1)).toMatchObject({
      outcome: { session: 's1', tenant: 'local', turn: 3, reason: { kind: 'completed' }, exitCode: 0 },
    });
    const failed = await here('run', 'Please fail');
    expect(failed.exitCode).toBe(1);
    expect(failed.out).toMatch(/(✗|x) error \(auth\)/);
    const shown = objects(await here('show', 's1', '--json'));
    expect(typesOf(shown).filter((type) => type === 'turn.end')).toHaveLength(3);
    const query = "select turn, end_reason from turns where session_id = 's1' order by turn";
    expect(objects(await here('sql', query, '--json'))).toMatchObject([
      { rows: [1, 2, 3].map((turn) => [turn, 'completed']) },
    ]);
  });

  it('tools come from the modules that JETLOOP_TOOL_MODULES names', async () => {
    const ran = await here('run', 'How is the weather?', '--json');
    expect(ran.exitCode).toBe(0);
    expect(objects(ran).find(({ type }) => type === 'tool.result')).toMatchObject({
      data: { isError: false, content: [{ type: 'text', text: 'Rain in Ulm' }] },
    });
  });

  it('agents are put and listed, and a session begins with one', async () => {
    expect(await here('agents', 'put', '@agent.yaml')).toMatchObject({ exitCode: 0, err: '' });
    expect(objects(await here('agents', 'list', '--json'))).toMatchObject([{ name: 'greeter', tools: ['bash'] }]);
    expect((await here('send', 's5', 'Hello', '--create', '--agent', 'greeter')).exitCode).toBe(0);
    const unknown = await here('send', 's6', 'Hello', '--create', '--agent', 'nobody');
    expect(unknown.exitCode).toBe(2);
    expect(unknown.err).toContain('There is no agent named nobody');
  });

  it('a fork goes on from an event of a session that is closed, and a session is resumed', async () => {
    const at = objects(await here('tail', 's4', '--json')).find(({ type }) => type === 'tool.call')?.['sequence'];
    const forked = await here('fork', 's4', '--at', String(at), '--as', 's4b', '--json');
    expect(forked).toMatchObject({ exitCode: 0, err: '' });
    expect(objects(forked)).toMatchObject([{ session: 's4b', from: { session: 's4', sequence: at } }]);
    expect((await here('send', 's4b', 'Hello')).exitCode).toBe(0);
    expect((await here('tail', 's4b', '--until-idle')).exitCode).toBe(0);
    expect((await here('resume', 's4b')).out).toMatch(/^resumed as of event \d+ of session s4b\n$/);
    expect((await here('resume', 's4')).err).toContain('The session is closed');
    expect(objects(await here('agents', 'show', 'greeter', '--json'))).toMatchObject([{ name: 'greeter' }]);
    expect((await here('agents', 'show', 'nobody')).err).toContain('There is no agent named nobody');
  });

  it('topology apply says what is there', async () => {
    const { exitCode, out } = await here('topology', 'apply');
    expect(exitCode).toBe(0);
    expect(out).toMatch(
      /\nCOMMANDS +1 +\d+ +\d+ +loop-orchestrator, llm-router, tool-runner, hook-policy, acp-bridge\n/,
    );
  });

  it('doctor names the data folder, and a second up is refused', async () => {
    expect((await here('doctor')).out).toMatch(/data folder +\S+\/data\/jetloop\/work-\S+ \(`jetloop up` runs/);
    const second = await here('up', '--models', '@models.yaml');
    expect(second.exitCode).toBe(2);
    expect(second.err).toMatch(/`jetloop up` runs for \S+ already \(process \d+\)/);
  });

  it('up ends on SIGTERM with exit code 0, and then nothing runs', async () => {
    expect(await up.end('SIGTERM')).toMatchObject({ exitCode: 0, err: '' });
    const { exitCode, err } = await here('sessions');
    expect(exitCode).toBe(3);
    expect(err).toContain('Start them with `jetloop up`');
  });
});

async function untilEvent(session: string, type: string): Promise<void> {
  const client = await JetloopClient.connect({ natsUrl, tenant: 'local', actor: 'test' });
  try {
    for await (const { event } of client.events(session)) if (event.type === type) return;
  } finally {
    await client.close();
  }
}

/** What was decided about the one approval of a session, and what came of its call. */
async function decisionOf(session: string) {
  const shown = objects(await here('show', session, '--json'));
  const [decided, ...others] = shown.filter(({ type }) => type === 'approval.decided').map(({ data }) => data);
  const results = shown.filter(({ type }) => type === 'tool.result').map(({ data }) => data);
  expect([others, results.length]).toEqual([[], 1]);
  const { outcome, note } = decided as { outcome: string; note: string };
  return { outcome, note, isError: (results[0] as { isError: boolean }).isError };
}

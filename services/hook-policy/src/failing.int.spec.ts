import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { seams, type HookReply, type Seam } from '@jetloop/contracts';
import { definePolicy } from './plugin/define-policy.js';
import { neutralDecisions } from './policy/policy-decision.js';
import { RunningPolicyService } from './testing/running-service.fixture.spec.js';
import { subjectOf } from './testing/subjects.js';
import { startWebhookServer, type WebhookServer } from './testing/webhook-server.fixture.spec.js';

/** A way to fail: the policy, and what the reply calls it. `status` is the hook.result's; none for plugins. */
type Way = readonly [name: string, policy: object, code: string, status?: string];

const command = (line: string | object, more: object = {}): object => ({ command: line, ...more });
const quick = { timeout: '400ms' };
const secret = 'env:PATH';

const commands: readonly Way[] = [
  ['timeout', command('sleep 60', quick), 'timeout', 'timeout'],
  ['exit-1', command('echo it broke >&2; exit 1'), 'exit_1', 'exit 1'],
  ['exit-127', command('no-such-program-anywhere'), 'exit_127', 'exit 127'],
  ['killed', command('kill -9 $$'), 'killed', 'killed by SIGKILL'],
  ['bad-json', command(`echo '{"decision": "blo'`), 'invalid_json', 'invalid_json'],
  ['json-behind-text', command(`echo hello; echo '{"decision":"block","reason":"x"}'`), 'invalid_json', 'invalid_json'],
  ['array', command(`echo '[{"decision":"block"}]'`), 'invalid_json', 'invalid_json'],
  ['null', command('echo null'), 'invalid_json', 'invalid_json'],
  ['null-decision', command(`echo '{"decision": null}'`), 'invalid_decision', 'invalid_decision'],
  ['unknown-decision', command(`echo '{"decision": "maybe"}'`), 'invalid_decision', 'invalid_decision'],
  ['unknown-field', command(`echo '{"decison": "block"}'`), 'invalid_decision', 'invalid_decision'],
  ['duplicate-key', command(`echo '{"decision":"approve","decision":"approve"}'`), 'invalid_json', 'invalid_json'],
  ['bad-utf8', command(`printf '{"reason": "\\377"}'`), 'invalid_utf8', 'invalid_utf8'],
  ['ten-megabytes', command('head -c 10485760 /dev/zero | tr "\\0" x'), 'output_too_large', 'output_too_large'],
  ['no-secret', command({ run: 'exit 0', env: { A: 'file:/no/such/file' } }), 'secret_missing', 'secret_missing'],
];
const webhook = (url: string, more: object = {}): object => ({ webhook: { url, secret }, ...more });
const webhooks = (url: string): Way[] => [
  ['http-500', webhook(`${url}/500`), 'http_500', 'HTTP 500'],
  ['http-404', webhook(`${url}/404`), 'http_404', 'HTTP 404'],
  ['refused', webhook('http://127.0.0.1:1/'), 'unreachable', 'ECONNREFUSED'],
  ['slow', webhook(`${url}/slow`, quick), 'timeout', 'timeout'],
  ['slow-body', webhook(`${url}/slow-body`, quick), 'timeout', 'timeout'],
  ['broken-off', webhook(`${url}/broken-off`), 'unreachable', 'ECONNRESET'],
  ['http-text', webhook(`${url}/text`), 'invalid_json', 'invalid_json'],
  ['http-bad-json', webhook(`${url}/bad-json`), 'invalid_json', 'invalid_json'],
  ['http-array', webhook(`${url}/array`), 'invalid_json', 'invalid_json'],
  ['http-bad-utf8', webhook(`${url}/bad-utf8`), 'invalid_utf8', 'invalid_utf8'],
  ['http-ten-megabytes', webhook(`${url}/large`), 'output_too_large', 'output_too_large'],
];
const responders: readonly Way[] = [
  ['no-responder', { responder: 'nobody' }, 'no_responder', 'no responder'],
  ['slow-responder', { responder: 'slow', ...quick }, 'timeout', 'timeout'],
  ['responder-bad-json', { responder: 'bad-json' }, 'invalid_json', 'invalid_json'],
  ['responder-large', { responder: 'large' }, 'output_too_large', 'output_too_large'],
];
/** Answers that the types would not let through. */
const everySeam = (answer: () => unknown) => Object.fromEntries(seams.map((seam) => [seam, answer])) as never;
const plugins = [
  definePolicy({
    name: 'throws',
    seams: everySeam(() => {
      throw new Error('boom');
    }),
  }),
  definePolicy({ name: 'hangs', seams: everySeam(() => new Promise(() => undefined)) }),
  definePolicy({ name: 'says-null', seams: everySeam(() => null) }),
  definePolicy({ name: 'says-array', seams: everySeam(() => []) }),
  definePolicy({ name: 'says-nonsense', seams: everySeam(() => ({ decision: 'maybe' })) }),
];
const inProcess: readonly Way[] = [
  ['plugin-throws', { plugin: 'throws' }, 'crash'],
  ['plugin-hangs', { plugin: 'hangs', ...quick }, 'timeout'],
  ['plugin-null', { plugin: 'says-null' }, 'invalid_decision'],
  ['plugin-array', { plugin: 'says-array' }, 'invalid_decision'],
  ['plugin-nonsense', { plugin: 'says-nonsense' }, 'invalid_decision'],
  ['plugin-unknown', { plugin: 'nobody-defined-it' }, 'unknown_plugin'],
  ['plugin-options', { plugin: { name: 'throws', options: { a: 1 } } }, 'invalid_options'],
];
const refuses: Way = ['exit-2', command('echo not today >&2; exit 2'), ''];

let url = '';
let server: WebhookServer;
let service: RunningPolicyService;

const namesOf = ([name]: Way): string => name;
const all = (): Way[] => [...commands, ...webhooks(url), ...responders, ...inProcess, refuses];
const modes = ['enforce', 'observe'] as const;

/** A set for each way and mode, for the agent of its name, on every seam. */
const setOf = ([name, policy]: Way, mode: string): object => ({
  name: `${name}-${mode}`,
  agents: [`${name}-${mode}`],
  policies: [{ name: 'p', mode, seams: [...seams], ...policy }],
});
const ask = (way: string, mode: string, seam: Seam): Promise<HookReply> =>
  service.ask(subjectOf(seam, { agent: `${way}-${mode}` }));

beforeAll(async () => {
  const large = Buffer.alloc(10 * 1024 * 1024, 'x');
  server = await startWebhookServer(({ path }, response) => {
    const bodies: Record<string, string | Buffer> = {
      '/text': '<html>welcome</html>',
      '/bad-json': '{"decision": "blo',
      '/array': '[]',
      '/bad-utf8': Buffer.from([0x7b, 0xff, 0x7d]),
      '/large': large,
    };
    const body = bodies[path];
    if (path === '/slow') return;
    if (path === '/slow-body') response.writeHead(200).write('{');
    else if (path === '/broken-off') {
      response.writeHead(200, { 'content-length': '10' }).write('{');
      setTimeout(() => response.destroy(), 20);
    } else if (body === undefined) response.writeHead(Number(path.slice(1))).end('{}');
    else response.writeHead(200).end(body);
  });
  url = server.url;
  const sets = all().flatMap((way) => modes.map((mode) => setOf(way, mode)));
  service = await RunningPolicyService.start({ plugins, webhookAddresses: ['127.0.0.0/8'] }, sets);
  for (const [name, answer] of [
    ['bad-json', '{"decision'],
    ['large', 'x'.repeat(100_000)],
  ] as const) {
    service.bus.nats.subscribe(`policy.${name}`, {
      callback: (_error, message) => message.respond(Buffer.from(answer)),
    });
  }
  service.bus.nats.subscribe('policy.slow', { callback: () => undefined });
});
afterAll(async () => {
  await service.stop();
  await server.stop();
});

describe('H3 each way to fail, on each seam, through the running service', () => {
  const ways = [...commands, ...webhooks(''), ...responders, ...inProcess].map((way) => [namesOf(way), way] as const);

  it.each(ways)('%s of an enforcing policy fails the seam', async (name, [, , code, status]) => {
    const replies = await Promise.all(seams.map((seam) => ask(name, 'enforce', seam)));
    for (const reply of replies) {
      expect(reply).toMatchObject({ result: { status: 'failed', policy: `${name}-enforce/p`, error: { code } } });
      const runs = status === undefined ? [] : [{ hook: `${name}-enforce/p`, status }];
      expect(reply.hooks).toMatchObject(runs);
      expect(reply.hooks).toHaveLength(runs.length);
    }
    expect(replies.map(({ seam }) => seam)).toEqual([...seams]);
  });

  it.each(ways)('%s of an observing policy is recorded, and the loop goes on', async (name, [, , code, status]) => {
    const replies = await Promise.all(seams.map((seam) => ask(name, 'observe', seam)));
    for (const reply of replies) {
      expect(reply).toMatchObject({
        result: { status: 'decided', decision: neutralDecisions[reply.seam] },
        observed: [{ policy: `${name}-observe/p`, decision: 'failed', reason: expect.stringMatching(`^${code}: `) }],
        hooks: status === undefined ? [] : [{ hook: `${name}-observe/p`, status }],
      });
    }
    expect(replies.map(({ seam }) => seam)).toEqual([...seams]);
  });

  const refusals: [Seam, object][] = [
    ['session-start', { status: 'failed', error: { code: 'invalid_decision' } }],
    ['prompt-submit', { status: 'decided', decision: { decision: 'block', reason: 'not today' } }],
    ['pre-step', { status: 'failed', error: { code: 'invalid_decision' } }],
    ['pre-tool', { status: 'decided', decision: { decision: 'deny', reason: 'not today' } }],
    ['post-tool', { status: 'decided', decision: { decision: 'block-result', feedback: 'not today' } }],
    ['turn-continuation', { status: 'decided', decision: { decision: 'continue', reason: 'not today' } }],
    ['pre-compact', { status: 'decided', decision: { decision: 'block', reason: 'not today' } }],
  ];
  it.each(refusals)('exit code 2 at %s is a refusal, or a failure where the seam knows none', async (seam, result) => {
    expect((await ask('exit-2', 'enforce', seam)).result).toMatchObject(result);
    const observed = await ask('exit-2', 'observe', seam);
    expect(observed.result).toMatchObject({ status: 'decided', decision: neutralDecisions[seam] });
    expect(observed.observed).toHaveLength(1);
  });
});

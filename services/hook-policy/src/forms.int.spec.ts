import { spawn, type ChildProcess } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { deadLetterSchema, seams, subjects, type SeamSubject } from '@jetloop/contracts';
import { bypasses, denied, harmless } from './command/bypasses.fixture.spec.js';
import { definePolicy } from './plugin/define-policy.js';
import { RunningPolicyService } from './testing/running-service.fixture.spec.js';
import { subjectOf, textBlock } from './testing/subjects.js';
import {
  startWebhookServer,
  type WebhookRequest as Sent,
  type WebhookServer,
} from './testing/webhook-server.fixture.spec.js';

const counts = definePolicy({
  name: 'counts',
  seams: {
    'pre-step': async ({ messages, estimatedTokens }, { tenant, turn }) => ({
      decision: 'none',
      context: [textBlock(`${(await messages()).length} of ${tenant} in turn ${turn}: ${estimatedTokens}`)],
    }),
  },
});
const secret = { webhook: { secret: 'env:PATH' } };

let server: WebhookServer;
let service: RunningPolicyService;
let responder: ChildProcess;

beforeAll(async () => {
  server = await startWebhookServer(({ path }, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(path === '/deny' ? '{"decision":"block","reason":"says the web"}' : '{}');
  });
  service = await RunningPolicyService.start({ plugins: [counts], webhookAddresses: ['127.0.0.1'] });
  responder = spawn(join(import.meta.dirname, '../../../examples/policies/responder.sh'), ['tool-list'], {
    env: { PATH: process.env['PATH'], NATS_URL: service.servers.natsUrl, DENIED_TOOLS: 'remove bash' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(responder.stdout!, 'data'); // It says that it answers.
});
afterAll(async () => {
  responder.kill();
  await service.stop();
  await server.stop();
});

/** Puts a set of one policy for an agent of its own, and asks as that agent. */
async function decide(name: string, policy: object, subject: SeamSubject) {
  const mine = { ...subject, agent: name };
  await service.put({ name, agents: [name], policies: [{ name: 'p', seam: subject.seam, ...policy }] }, mine);
  return service.ask(mine);
}

/** The function that docs/policies.md gives to receivers, as it stands there. */
async function receiver(): Promise<{
  isGenuine: (headers: Sent['headers'], body: string, secret: string, now?: number) => boolean;
}> {
  const docs = await readFile(join(import.meta.dirname, '../../../docs/policies.md'), 'utf8');
  const [, code = ''] = /```js\n([^]*?isGenuine[^]*?)```/.exec(docs) ?? [];
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-receiver-'));
  try {
    await writeFile(join(folder, 'receiver.mjs'), code);
    return (await import(join(folder, 'receiver.mjs'))) as Awaited<ReturnType<typeof receiver>>;
  } finally {
    await rm(folder, { recursive: true });
  }
}

describe('the forms of a policy, through the running service', () => {
  it('H10 a webhook is asked with a signature over time and body, and decides', async () => {
    const policy = { webhook: { ...secret.webhook, url: `${server.url}/deny` } };
    const reply = await decide('web', policy, subjectOf('pre-tool'));
    expect(reply).toMatchObject({
      result: { decision: { decision: 'deny', policy: 'web/p', reason: 'says the web' } },
      hooks: [{ hook: 'web/p', status: 'ok', durationMs: expect.any(Number) }],
    });
    const { headers, body } = server.requests.at(-1)!;
    const timestamp = String(headers['jetloop-timestamp']);
    const expected = createHmac('sha256', process.env['PATH']!).update(`${timestamp}.${body}`).digest('hex');
    expect(headers['jetloop-signature']).toBe(`v1=${expected}`);
    expect(Math.abs(Date.now() / 1000 - Number(timestamp))).toBeLessThan(60);
    const ids = server.requests.map((request) => (JSON.parse(request.body) as { request_id: string }).request_id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('H10 the receiver of docs/policies.md takes a request once, and nothing that was changed, is late, or is not ours', async () => {
    const policy = { webhook: { ...secret.webhook, url: `${server.url}/receiver` } };
    await decide('receiver', policy, subjectOf('pre-tool', { callId: 'räksmörgås' }));
    await service.ask(subjectOf('pre-tool', { agent: 'receiver' }));
    const [first, second] = server.requests.filter(({ path }) => path === '/receiver').slice(-2) as [Sent, Sent];
    const ours = process.env['PATH']!;
    const { isGenuine } = await receiver();
    const { 'jetloop-timestamp': timestamp, 'jetloop-signature': signature } = first.headers;
    const at = Number(timestamp);
    const { request_id: id } = JSON.parse(first.body) as { request_id: string };
    const forged: [string, Sent['headers'], string, string, number][] = [
      ['another secret', first.headers, first.body, 'wrong', at],
      ['an altered body', first.headers, first.body.replace('"bash"', '"grep"'), ours, at],
      ['another id', first.headers, first.body.replace(id, 'x'), ours, at],
      ['another time', { ...first.headers, 'jetloop-timestamp': String(at + 1) }, first.body, ours, at],
      [
        'the signature of another',
        { ...first.headers, 'jetloop-signature': second.headers['jetloop-signature'] },
        first.body,
        ours,
        at,
      ],
      [
        'half a signature',
        { ...first.headers, 'jetloop-signature': String(signature).slice(0, 20) },
        first.body,
        ours,
        at,
      ],
      ['no signature', { 'jetloop-timestamp': timestamp }, first.body, ours, at],
      ['no time', { 'jetloop-signature': signature }, first.body, ours, at],
      ['too late', first.headers, first.body, ours, at + 301],
      ['from the future', first.headers, first.body, ours, at - 301],
    ];
    for (const [what, ...request] of forged)
      expect({ what, taken: isGenuine(...request) }).toEqual({ what, taken: false });
    expect(isGenuine(first.headers, first.body, ours, at + 299)).toBe(true);
    expect(isGenuine(first.headers, first.body, ours, at + 300)).toBe(false);
    expect(isGenuine(second.headers, second.body, ours)).toBe(true);
    expect(isGenuine(second.headers, second.body, ours)).toBe(false);
  });

  it('H7 a command rule of the running service refuses every bypass, and lets pass what only looks like one', async () => {
    const policy = { when: { tool: 'bash', command: { runs: denied } }, decide: { deny: 'not here' } };
    await decide('shell-rule', policy, subjectOf('pre-tool'));
    const decisionOf = async (command: string) => {
      const { result } = await service.ask(subjectOf('pre-tool', { agent: 'shell-rule', arguments: { command } }));
      return { command, decision: result.status === 'decided' ? result.decision.decision : result.status };
    };
    const lines = bypasses.map(([, line]) => line);
    expect(await Promise.all(lines.map(decisionOf))).toEqual(lines.map((command) => ({ command, decision: 'deny' })));
    expect(await Promise.all(harmless.map(decisionOf))).toEqual(
      harmless.map((command) => ({ command, decision: 'allow' })),
    );
    const kinds = new Set(bypasses.map(([kind]) => kind));
    const asked = ['quoting', 'substitution', 'newline', 'unicode', 'case', 'environment', 'alias'];
    expect(asked.filter((kind) => !kinds.has(kind))).toEqual([]);
    expect(lines.length).toBeGreaterThanOrEqual(40);
  });

  it('H10 a responder in another language decides, over the NATS protocol', async () => {
    const policy = { responder: 'tool-list' };
    expect(await decide('shell', policy, subjectOf('pre-tool', { name: 'remove' }))).toMatchObject({
      result: { decision: { decision: 'deny', policy: 'shell/p', reason: 'remove is not for agents' } },
      hooks: [{ hook: 'shell/p', status: 'ok' }],
    });
    const many = await Promise.all(
      Array.from({ length: 50 }, (_, n) =>
        service.ask(
          subjectOf('pre-tool', { agent: 'shell', name: n % 2 ? 'bash' : 'read_file', callId: 'ä'.repeat(n) }),
        ),
      ),
    );
    const decisions = many.map(({ result }) => result.status === 'decided' && result.decision.decision);
    expect(decisions).toEqual(many.map((_, n) => (n % 2 ? 'deny' : 'allow')));
  });

  it('a command decides in the dialect; what does not match is not run', async () => {
    const line = `input=$(cat); case "$input" in *'"command":"ls"'*) echo fine;; *) echo "no: $input" >&2; exit 2;; esac`;
    const policy = { command: line, matcher: 'bash|write_file' };
    const allowed = await decide('command', policy, subjectOf('pre-tool'));
    expect(allowed).toMatchObject({
      result: { decision: { decision: 'allow' } },
      hooks: [{ hook: 'command/p', status: 'ok' }],
    });
    const denied = await service.ask(subjectOf('pre-tool', { agent: 'command', arguments: { command: 'rm x' } }));
    expect(denied.result).toMatchObject({ decision: { decision: 'deny', reason: expect.stringContaining('rm x') } });
    const other = await service.ask(subjectOf('pre-tool', { agent: 'command', name: 'read_file' }));
    expect(other).toMatchObject({ result: { decision: { decision: 'allow' } }, hooks: [] });
  });

  it('a plugin before a step sees the conversation up to the question, and nothing after it', async () => {
    const policy = { plugin: 'counts' };
    const subject = subjectOf('pre-step', { estimatedTokens: 77 });
    const said = (count: number): object => ({
      result: {
        decision: { context: [{ content: [textBlock(`${count} of ${service.servers.tenant} in turn 1: 77`)] }] },
      },
    });
    expect(await decide('plugin', policy, subject)).toMatchObject(said(1));
    expect(await service.ask({ ...subject, agent: 'plugin' }, { upTo: 1 })).toMatchObject(said(2));
  });

  it('conditions narrow every form: what they do not want is not asked', async () => {
    const policy = { command: 'exit 1', when: { tool: 'write_*' } };
    const other = await decide('narrow', policy, subjectOf('pre-tool'));
    expect(other).toMatchObject({ result: { status: 'decided' }, hooks: [] });
    const asked = await service.ask(subjectOf('pre-tool', { agent: 'narrow', name: 'write_file' }));
    expect(asked.result).toMatchObject({ status: 'failed', error: { code: 'exit_1' } });
  });

  it('H8 a set that is put, changed and removed counts at the next question', async () => {
    const subject = subjectOf('pre-tool', { agent: 'changing' });
    const rule = (reason: string) => ({ decide: { deny: reason } });
    expect(await decide('changing', rule('one'), subject)).toMatchObject({ result: { decision: { reason: 'one' } } });
    expect(await decide('changing', rule('two'), subject)).toMatchObject({ result: { decision: { reason: 'two' } } });
    await service.store.remove('changing');
    let reply = await service.ask(subject);
    while (reply.policyVersion?.includes('changing@')) reply = await service.ask(subject);
    expect(reply.result).toMatchObject({ decision: { decision: 'allow' } });
  });

  it('H5 a failure loses nothing of the policies before it: contexts come with it, rewrites are recorded', async () => {
    const name = 'lossless';
    const policies = [
      {
        name: 'a',
        order: 1,
        seam: 'pre-tool',
        decide: { rewrite: { arguments: { timeout: 5 } }, context: 'five seconds' },
      },
      { name: 'b', order: 2, seam: 'pre-tool', mode: 'observe', decide: { deny: 'never' } },
      { name: 'c', order: 3, seam: 'pre-tool', command: 'exit 1' },
    ];
    const subject = subjectOf('pre-tool', { agent: name });
    await service.put({ name, agents: [name], policies }, subject);
    expect(await service.ask(subject)).toMatchObject({
      result: {
        status: 'failed',
        policy: 'lossless/c',
        context: [{ policy: 'lossless/a', content: [textBlock('five seconds')] }],
      },
      observed: [
        { policy: 'lossless/b', decision: 'deny', reason: 'never' },
        { policy: 'lossless/a', decision: 'rewrite', reason: 'without effect: lossless/c failed' },
      ],
    });
  });

  it('H5 where a result is taken out, a hook that repeats it on standard error does not bring it back', async () => {
    const policies = [
      { name: 'a', order: 1, seam: 'post-tool', command: 'cat >&2' },
      { name: 'b', order: 2, seam: 'post-tool', decide: { redact: { patterns: ['hunter2'], with: '***' } } },
    ];
    const result = {
      content: [textBlock('the password is hunter2')],
      output: 'hunter2',
      isError: false,
      durationMs: 1,
    };
    const subject = subjectOf('post-tool', { agent: 'echo', result });
    await service.put({ name: 'echo', agents: ['echo'], policies }, subject);
    const { result: answer, hooks, observed, asked } = await service.ask(subject);
    expect(answer).toMatchObject({ decision: { decision: 'accept', content: [textBlock('the password is ***')] } });
    expect(hooks).toMatchObject([{ hook: 'echo/a', status: 'ok' }]);
    expect(JSON.stringify({ answer, hooks, observed })).not.toContain('hunter2');
    expect(asked).toEqual(result);
    const harmless = await service.ask({
      ...subject,
      result: { ...result, content: [textBlock('fine')], output: 'fine' },
    });
    expect(harmless.hooks).toMatchObject([{ stderr: expect.stringContaining('fine') }]);
  });

  it('H5 a question about a result that is given up is a dead letter by its digest only', async () => {
    const { tenant } = service.servers;
    const letter = new Promise<unknown>((resolve) => {
      service.bus.nats.subscribe(`dead.hook-policy.${tenant}`, {
        max: 1,
        callback: (_error, message) => {
          resolve(message.json());
        },
      });
    });
    const broken = { commandId: 'x', subject: subjectOf('post-tool', { arguments: { secret: 'hunter2' } }) };
    await service.bus.publisher.publish(subjects.work('hook', tenant), Buffer.from(JSON.stringify(broken)));
    const { body } = deadLetterSchema.parse(await letter);
    expect(body).toEqual({ digest: expect.any(String), size: expect.any(Number) });
  });

  it('every seam is answered by one policy of each form at once, in order', async () => {
    const policies = [
      { name: 'a', seams: [...seams], command: 'exit 0' },
      { name: 'b', seams: [...seams], webhook: { ...secret.webhook, url: `${server.url}/fine` } },
      { name: 'c', seams: [...seams], responder: 'tool-list' },
    ];
    await service.put({ name: 'all', agents: ['all'], policies }, subjectOf('pre-step', { agent: 'all' }));
    for (const seam of seams) {
      const subject = seam === 'pre-tool' || seam === 'post-tool' ? subjectOf(seam, { name: 'grep' }) : subjectOf(seam);
      const reply = await service.ask({ ...subject, agent: 'all' });
      expect(reply.result.status).toBe('decided');
      expect(reply.hooks.map(({ hook, status }) => `${hook} ${status}`)).toEqual(['all/a ok', 'all/b ok', 'all/c ok']);
    }
  });
});

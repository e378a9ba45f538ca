import { createHmac, timingSafeEqual } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  startWebhookServer,
  type WebhookRequest,
  type WebhookServer,
} from '../../testing/webhook-server.fixture.spec.js';
import { addressGuard } from '@jetloop/platform';
import { webhookTransport, type WebhookWorld } from './webhook-transport.js';

const env = { HOOK_SECRET: 'a secret of the two' };
let server: WebhookServer;
let answer: (request: WebhookRequest, response: ServerResponse) => void;

beforeAll(async () => {
  server = await startWebhookServer((request, response) => {
    answer(request, response);
  });
});
afterAll(() => server.stop());

const now = new Date('2026-03-01T12:00:00.900Z');
let ids = 0;
const world = (extra: Partial<WebhookWorld> = {}): WebhookWorld => ({
  env,
  guard: addressGuard(['127.0.0.1']),
  resolve: () => Promise.resolve(['127.0.0.1']),
  now: () => now,
  randomId: () => `id-${++ids}`,
  ...extra,
});
const send = (url: string, extra: Partial<WebhookWorld> = {}) =>
  webhookTransport({ url, secret: 'env:HOOK_SECRET' }, world(extra))(
    Buffer.from('{"hook_event_name":"PreToolUse"}'),
    { signal: AbortSignal.timeout(5_000), workspace: undefined },
    { stderr: '' },
  );
const refusedWith = (code: string): unknown => expect.objectContaining({ code });
const accept = (_request: WebhookRequest, response: ServerResponse): void => {
  response.end('{}');
};

describe('H10 the signature of a webhook', () => {
  /** What docs/policies.md tells a receiver to do. */
  function verify({ headers, body }: WebhookRequest, secret: string, at: number, seen: Set<string>): boolean {
    const timestamp = String(headers['jetloop-timestamp']);
    const expected = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest();
    const given = Buffer.from(String(headers['jetloop-signature']).replace('v1=', ''), 'hex');
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return false;
    if (Math.abs(at - Number(timestamp)) > 300) return false;
    const { request_id: id } = JSON.parse(body) as { request_id: string };
    return !seen.has(id) && Boolean(seen.add(id));
  }
  const seconds = Math.floor(now.getTime() / 1000);

  it('is over time and body', async () => {
    answer = accept;
    await send(server.url);
    const request = server.requests.at(-1)!;
    expect(request.headers['jetloop-timestamp']).toBe(String(seconds));
    expect(verify(request, env.HOOK_SECRET, seconds, new Set())).toBe(true);
    expect(verify(request, 'another', seconds, new Set())).toBe(false);
    expect(verify({ ...request, body: `${request.body} ` }, env.HOOK_SECRET, seconds, new Set())).toBe(false);
    const later = { ...request.headers, 'jetloop-timestamp': String(seconds + 1) };
    expect(verify({ ...request, headers: later }, env.HOOK_SECRET, seconds, new Set())).toBe(false);
  });

  it('a request that is sent again by somebody is known by its time and by its id', async () => {
    answer = accept;
    await send(server.url);
    await send(server.url);
    const [first, second] = server.requests.slice(-2);
    const seen = new Set<string>();
    expect(verify(first!, env.HOOK_SECRET, seconds, seen)).toBe(true);
    expect(verify(first!, env.HOOK_SECRET, seconds, seen)).toBe(false);
    expect(verify(second!, env.HOOK_SECRET, seconds, seen)).toBe(true);
    expect(verify(first!, env.HOOK_SECRET, seconds + 301, new Set())).toBe(false);
  });

  it('needs its secret, and never sends it', async () => {
    await expect(send(server.url, { env: {} })).rejects.toThrow(refusedWith('secret_missing'));
    expect(JSON.stringify(server.requests)).not.toContain(env.HOOK_SECRET);
  });
});

describe('F40 where a webhook may be', () => {
  it.each([
    '127.0.0.1',
    '10.0.0.1',
    '172.16.5.5',
    '192.168.1.1',
    '169.254.169.254',
    '100.64.0.1',
    '100.100.100.200',
    '168.63.129.16',
    '0.0.0.0',
    '255.255.255.255',
    '224.0.0.1',
    '192.0.2.1',
    '198.18.0.1',
    '240.0.0.1',
    '::1',
    '::',
    'fe80::1',
    'fd00:ec2::254',
    'fc00::1',
    'ff02::1',
    '::ffff:10.0.0.1',
    '::ffff:169.254.169.254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
    '2001:db8::1',
    'not an address',
  ])('not at %s', (address) => {
    expect(addressGuard([]).isAllowed(address)).toBe(false);
  });
  it.each(['93.184.216.34', '1.1.1.1', '2606:4700:4700::1111'])('at %s', (address) => {
    expect(addressGuard([]).isAllowed(address)).toBe(true);
  });
  it('at what is listed', () => {
    const guard = addressGuard(['10.1.0.0/16', 'fd00::/8', '127.0.0.1']);
    expect(['10.1.2.3', 'fd00::5', '127.0.0.1', '::ffff:10.1.2.3'].map(guard.isAllowed)).toEqual([
      true,
      true,
      true,
      true,
    ]);
    expect(['10.2.0.1', '127.0.0.2', 'fe80::1'].map(guard.isAllowed)).toEqual([false, false, false]);
    expect(() => addressGuard(['10.0.0.0/33'])).toThrow(RangeError);
    expect(() => addressGuard(['localhost'])).toThrow(RangeError);
  });

  const metadata = [
    'http://169.254.169.254/latest/meta-data',
    'http://[::ffff:169.254.169.254]/',
    'https://0x7f.1/',
    'http://2130706433/',
  ];
  it.each(metadata)('%s is refused without a request', async (url) => {
    const before = server.requests.length;
    await expect(send(url, { guard: addressGuard([]) })).rejects.toThrow(refusedWith('address_refused'));
    expect(server.requests).toHaveLength(before);
  });

  it('one forbidden address among several refuses them all', async () => {
    const resolve = () => Promise.resolve(['127.0.0.1', '10.0.0.1']);
    await expect(send('http://hooks.example', { resolve })).rejects.toThrow(refusedWith('address_refused'));
  });

  it('a name that changes its address is asked once: the connection goes where the check was', async () => {
    answer = accept;
    const answers = [['127.0.0.1'], ['169.254.169.254']];
    const asked: string[] = [];
    const resolve = (host: string) => {
      asked.push(host);
      return Promise.resolve(answers.shift() ?? []);
    };
    const { port } = new URL(server.url);
    await send(`http://hooks.example:${port}/`, { resolve });
    expect(asked).toEqual(['hooks.example']);
    expect(server.requests.at(-1)?.headers.host).toBe(`hooks.example:${port}`);
  });

  it('plain http is for listed addresses', async () => {
    const resolve = () => Promise.resolve(['93.184.216.34']);
    await expect(send('http://hooks.example', { resolve })).rejects.toThrow(refusedWith('insecure_address'));
  });
});

describe('F40 redirects of a webhook', () => {
  const redirect = (status: number, location: string) => (request: WebhookRequest, response: ServerResponse) => {
    if (request.path === '/end') response.end('{"continue":true}');
    else response.writeHead(status, { location }).end();
  };

  it.each([307, 308])('%s is followed with method, body and signature', async (status) => {
    answer = redirect(status, '/end');
    const output = await send(server.url);
    expect(output).toMatchObject({ kind: 'answer' });
    const [first, second] = server.requests.slice(-2);
    expect(second).toMatchObject({ path: '/end', body: first!.body });
    expect(second!.headers['jetloop-signature']).toBe(first!.headers['jetloop-signature']);
  });

  it.each(['http://169.254.169.254/', 'https://10.0.0.1/', 'http://[fd00:ec2::254]/'])(
    'to %s is refused',
    async (to) => {
      answer = redirect(307, to);
      await expect(send(server.url)).rejects.toThrow(refusedWith('address_refused'));
    },
  );

  it('to a name at a private address is refused', async () => {
    answer = redirect(307, 'https://inside.example/');
    const resolve = () => Promise.resolve(['192.168.0.7']);
    await expect(send(server.url, { resolve })).rejects.toThrow(refusedWith('address_refused'));
  });

  it.each([
    ['one that would change the method', 303, '/end', 'http_303'],
    ['another scheme', 307, 'file:///etc/passwd', 'bad_redirect'],
    ['no address', 307, 'http://', 'bad_redirect'],
    ['a circle', 307, '/again', 'too_many_redirects'],
  ])('%s is refused', async (_name, status, location, code) => {
    answer = redirect(status, location);
    await expect(send(server.url)).rejects.toThrow(refusedWith(code));
  });
});

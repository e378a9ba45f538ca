import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addressGuard } from '@jetloop/platform';
import { temporaryWorkspace, textOf, type TestWorkspace } from '../tool/context.fixture.spec.js';
import { createHttpFetchTool } from './http-fetch.tool.js';

describe('http_fetch', () => {
  let box: TestWorkspace;
  let server: Server;
  let base: string;
  beforeAll(async () => {
    box = await temporaryWorkspace();
    server = createServer(({ url = '', headers }, response) => {
      if (url === '/away') response.writeHead(302, { location: 'http://169.254.169.254/latest' }).end();
      else if (url === '/round') response.writeHead(302, { location: '/round' }).end();
      else if (url === '/to-page') response.writeHead(301, { location: '/page' }).end();
      else if (url === '/absent') response.writeHead(404, { 'content-type': 'text/plain' }).end('nothing');
      else response.writeHead(200, { 'content-type': 'text/plain' }).end(`page for ${headers.host ?? ''}`);
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.close();
    await box.remove();
  });
  const listed = createHttpFetchTool(addressGuard(['127.0.0.1']));

  it('gives status, type and body, and follows redirects', async () => {
    const result = await box.run(listed, { url: `${base}/to-page` });
    expect(textOf(result)).toMatch(/^200 text\/plain http:\/\/127.*\/page\n\npage for 127/);
    expect(await box.run(listed, { url: `${base}/absent` })).toMatchObject({
      isError: true,
      error: { code: 'http_404' },
    });
  });

  it.each([
    'http://127.0.0.1/',
    'http://[::1]/',
    'http://10.0.0.1/',
    'http://169.254.169.254/',
    'http://[::ffff:127.0.0.1]/',
  ])('refuses %s, which is private, local or metadata', async (url) => {
    const fetching = createHttpFetchTool(addressGuard([]));
    expect(await box.run(fetching, { url })).toMatchObject({ isError: true, error: { code: 'address_refused' } });
  });

  it('refuses a redirect to such an address, and one that never ends', async () => {
    expect((await box.run(listed, { url: `${base}/away` })).error?.code).toBe('address_refused');
    expect((await box.run(listed, { url: `${base}/round` })).error?.code).toBe('too_many_redirects');
  });

  it('resolves a name once, refuses it when one of its addresses is private, and connects to what it checked', async () => {
    const asked: string[] = [];
    const answers = [['93.184.216.34', '10.0.0.7'], ['127.0.0.1'], ['10.0.0.7']];
    const fetching = createHttpFetchTool(addressGuard(['127.0.0.1']), (host) => {
      asked.push(host);
      return Promise.resolve(answers[asked.length - 1] ?? []);
    });
    const url = `http://changing.example:${new URL(base).port}/page`;
    expect((await box.run(fetching, { url })).error?.code).toBe('address_refused');
    // The second answer of the name is what it connects to; a third one is never asked for.
    expect(textOf(await box.run(fetching, { url }))).toContain('page for changing.example');
    expect(asked).toEqual(['changing.example', 'changing.example']);
  });

  it('is refused in a sandbox, which has no network, and for anything but http', async () => {
    expect((await box.run(listed, { url: base }, { sandbox: 'bubblewrap' })).error?.code).toBe('sandboxed');
    expect((await box.run(listed, { url: 'file:///etc/passwd' })).error?.code).toBe('invalid_arguments');
  });
});

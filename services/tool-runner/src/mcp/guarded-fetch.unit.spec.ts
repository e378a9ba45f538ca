import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { addressGuard } from '@jetloop/platform';
import { guardedFetch } from './guarded-fetch.js';

let server: Server;
let port: number;
beforeAll(async () => {
  server = createServer(({ url = '' }, response) => {
    const to = URL.parse(`http://x${url}`)?.searchParams.get('to');
    response.writeHead(to ? 307 : 200, { connection: 'close', ...(to ? { location: to } : {}) }).end('page');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.close();
});

const refused = expect.objectContaining({ cause: expect.objectContaining({ code: 'address_refused' }) });

describe('a guarded fetch', () => {
  it.each(['127.0.0.1', '[::1]', '10.0.0.1', '169.254.169.254', '[::ffff:127.0.0.1]', 'localhost'])(
    'goes to %s only where it is listed',
    async (host) => {
      await expect(guardedFetch(addressGuard([]))(`http://${host}:${port}/`)).rejects.toEqual(refused);
    },
  );

  it('goes to what is listed, and follows redirects no further than that', async () => {
    const fetch = guardedFetch(addressGuard(['127.0.0.1']));
    const base = `http://127.0.0.1:${port}/`;
    expect(await (await fetch(`${base}?to=${base}`)).text()).toBe('page');
    await expect(fetch(`${base}?to=http://169.254.169.254/`)).rejects.toEqual(refused);
  });

  it('asks for a name once a connection, and refuses it when one of its addresses is not allowed', async () => {
    const answers = [['127.0.0.1'], ['127.0.0.1', '10.0.0.7']];
    const asked: string[] = [];
    const fetch = guardedFetch(addressGuard(['127.0.0.1']), (host) => {
      asked.push(host);
      return Promise.resolve(answers[asked.length - 1] ?? []);
    });
    const url = `http://changing.example:${port}/`;
    expect(await (await fetch(url)).text()).toBe('page');
    await expect(fetch(url)).rejects.toEqual(refused);
    expect(asked).toEqual(['changing.example', 'changing.example']);
  });
});

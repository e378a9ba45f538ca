// Exit code 0 when the service in this container is ready; else what it answered. The slim image has no curl.
import { get } from 'node:http';
import { text } from 'node:stream/consumers';

const url = `http://127.0.0.1:${process.env.JETLOOP_HTTP_PORT ?? '8080'}/ready`;
const request = get(url, { timeout: 2_000 }, async (response) => {
  process.stdout.write(await text(response));
  process.exitCode = response.statusCode === 200 ? 0 : 1;
});
request.on('timeout', () => request.destroy(new Error('no answer within 2 s')));
request.on('error', (error) => {
  console.log(`${url}: ${error.message}`);
  process.exitCode = 1;
});

import { systemResolve, type AddressGuard, type Resolve } from '@jetloop/platform';
import { z } from 'zod';
import { defineTool } from '../tool/define-tool.js';
import { OUTPUT_LIMIT } from '../tool/cut-output.js';
import { OutputCollector } from '../tool/output-collector.js';
import { ToolError } from '../tool/tool-error.js';
import { httpGet } from './http-get.js';

const MAX_REDIRECTS = 5;
const ROOM_FOR_FIRST_LINE = 2_048;

/** Fetches pages of the network, never of this machine or its neighbours. Only where the operator allows it. */
export const createHttpFetchTool = (guard: AddressGuard, resolve: Resolve = systemResolve) =>
  defineTool({
    name: 'http_fetch',
    description:
      'Gets a URL (http or https) and gives status, content type and body. Redirects are followed. Private and local addresses are refused.',
    input: z.object({ url: z.url({ protocol: /^https?$/, error: 'expected an http or https URL' }) }),
    readonly: true,
    timeoutMs: 60_000,
    async run({ url }, ctx) {
      if (ctx.sandbox !== 'none')
        throw new ToolError('sandboxed', 'http_fetch is refused: the sandbox that the agent asks for has no network.');
      let target = new URL(url);
      for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
        const response = await httpGet(target, { guard, resolve, signal: ctx.signal });
        const { statusCode: status = 0, headers } = response;
        if (status >= 300 && status <= 399 && headers.location !== undefined) {
          response.destroy();
          target = redirected(target, headers.location);
          continue;
        }
        const collector = new OutputCollector({
          limit: OUTPUT_LIMIT - ROOM_FOR_FIRST_LINE,
          openSink: ctx.openSink?.bind(ctx),
        });
        for await (const chunk of response) if (Buffer.isBuffer(chunk) && !(await collector.write(chunk))) break;
        response.destroy();
        const { text, truncated, binary, totalBytes, whole } = await collector.finish();
        const type = headers['content-type'] ?? 'unknown type';
        return {
          content: `${status} ${type} ${target.href.slice(0, 1_000)}\n\n${text}`,
          output: {
            status,
            contentType: type,
            truncated,
            binary,
            totalBytes,
            ...(whole === undefined ? {} : { whole }),
          },
          ...(status >= 400 ? { isError: true, error: { name: 'HttpError', code: `http_${status}` } } : {}),
        };
      }
      throw new ToolError('too_many_redirects', `expected at most ${MAX_REDIRECTS} redirects`);
    },
  });

function redirected(from: URL, location: string): URL {
  const target = URL.parse(location, from.href);
  if (!target || !['http:', 'https:'].includes(target.protocol))
    throw new ToolError('bad_redirect', 'expected a redirect to an http or https address');
  return target;
}

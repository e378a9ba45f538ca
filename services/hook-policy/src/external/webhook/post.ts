import { request as httpRequest, type IncomingMessage, type RequestOptions } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { fixedLookup } from '@jetloop/platform';
import { PolicyError } from '../../policy/policy-error.js';
import { errorCode } from '../error-code.js';

export interface PostRequest {
  readonly url: URL;
  /** Where the connection goes, whatever the name says by now. */
  readonly addresses: readonly string[];
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  /** Bytes of the answer. */
  readonly maxAnswer: number;
}

export interface PostAnswer {
  readonly status: number;
  readonly location: string | undefined;
  readonly body: Uint8Array;
}

/** One request on a connection of its own. @throws PolicyError `unreachable`, `output_too_large` */
export async function post(request: PostRequest): Promise<PostAnswer> {
  const response = await send(request);
  const { statusCode: status = 0, headers } = response;
  // Only a good answer is read.
  if (status < 200 || status > 299) {
    response.destroy();
    return { status, location: headers.location, body: new Uint8Array() };
  }
  return { status, location: undefined, body: await readBody(response, request.maxAnswer) };
}

function send({ url, addresses, headers, body, signal }: PostRequest): Promise<IncomingMessage> {
  const options: RequestOptions = {
    method: 'POST',
    headers: { ...headers, 'Content-Length': String(body.length), Connection: 'close' },
    agent: false,
    lookup: fixedLookup(addresses),
    signal,
  };
  return new Promise((resolve, reject) => {
    const request = (url.protocol === 'https:' ? httpsRequest : httpRequest)(url, options, resolve);
    request.once('error', (error) => {
      reject(unreachable(error));
    });
    request.end(body);
  });
}

async function readBody(response: IncomingMessage, most: number): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of response) {
      if (!Buffer.isBuffer(chunk)) continue;
      size += chunk.length;
      if (size > most) throw new PolicyError('output_too_large', `expected at most ${most} bytes, got more`);
      chunks.push(chunk);
    }
  } catch (error) {
    throw error instanceof PolicyError ? error : unreachable(error);
  } finally {
    response.destroy();
  }
  return Buffer.concat(chunks);
}

function unreachable(error: unknown): PolicyError {
  const code = errorCode(error);
  return new PolicyError('unreachable', `the webhook cannot be reached (${code})`, code);
}

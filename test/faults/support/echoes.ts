import { wireOf, type ReplayDialect, type ReplayedRequest } from '@jetloop/testing';
import type { Reaction } from '../../e2e/support/fake-models.js';

/** Words that a test finds again wherever they leak to. */
export const SECRETS = {
  key: 'sk-zq7f1c9e77aa4d1b',
  system: 'xv2 system whisper 8841 wakes',
  prompt: 'jw5 prompt canary 3390 sings',
  image: Buffer.from('\x89PNG\r\n\x1a\nkq9 image 5177', 'latin1').toString('base64'),
  arguments: 'hb8 argument beetle 6612 runs',
  answer: 'mt4 answer falcon 2075 rests',
  schema: 'pd6 schema otter 9923 bends',
} as const;
/** Characters in a row that are a leak: one more than what a cleaned message may share with the request by chance. */
const LEAK = 9;

/** The secrets that a text holds, whole or in part. */
export function leaksIn(text: string): string[] {
  return Object.entries(SECRETS).flatMap(([name, secret]) => {
    const runs = Array.from({ length: secret.length - LEAK + 1 }, (_, at) => secret.slice(at, at + LEAK));
    return runs.some((run) => text.includes(run)) ? [name] : [];
  });
}

/** Ways in which a careless provider fails with the words of the request on its lips. */
export const ECHOES = [
  'refusal',
  'refusal in an answer',
  'code of a refusal',
  'page',
  'broken frame',
  'frame of another shape',
  'finish reason',
  'redirect',
] as const;

/** Names of the secrets that a request held, as a provider got it. */
export function heldBy({ body, headers }: ReplayedRequest): string[] {
  return leaksIn(JSON.stringify([body, headers]));
}

export function echoing(
  kind: (typeof ECHOES)[number],
  dialect: ReplayDialect,
  { body, headers }: ReplayedRequest,
): Reaction {
  const echo = `${Object.values(SECRETS).join(' ')} ${JSON.stringify([headers, body]).slice(0, 400)}`;
  const wire = wireOf(dialect);
  const refusal = { body: '', ...wire.refusal(400, `Bad input: ${echo}`) };
  const begun = (...frames: string[]) => ({
    chunks: [wire.begin(), wire.text('Hm.'), ...frames.map((frame) => `data: ${frame}\n\n`)],
  });
  switch (kind) {
    case 'refusal':
      return refusal;
    case 'refusal in an answer':
      return begun(refusal.body);
    case 'code of a refusal':
      return { body: '', ...wire.refusal(500, 'Bad input', SECRETS.key) };
    case 'page':
      return { status: 502, headers: { 'content-type': 'text/html' }, body: `<html>${echo}</html>` };
    case 'broken frame':
      return begun(`{"choices": ["${echo}`);
    case 'frame of another shape':
      return begun(JSON.stringify({ type: 'content_block_delta', choices: echo, candidates: echo, delta: echo }));
    case 'finish reason':
      return begun(JSON.stringify(ENDS[dialect]('error')), JSON.stringify(ENDS[dialect](echo)));
    case 'redirect':
      return { status: 307, headers: { location: `/${encodeURI(echo)}`, 'retry-after': encodeURI(echo) }, body: echo };
  }
}

const ENDS: Record<ReplayDialect, (reason: string) => object> = {
  chat: (reason) => ({ choices: [{ index: 0, delta: {}, finish_reason: reason }] }),
  anthropic: (reason) => ({ type: 'message_delta', delta: { stop_reason: reason } }),
  google: (reason) => ({ candidates: [{ index: 0, finishReason: reason }] }),
};

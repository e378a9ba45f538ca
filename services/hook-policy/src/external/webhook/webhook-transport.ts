import { PolicyError } from '../../policy/policy-error.js';
import type { WebhookForm } from '../../rules/policy-forms.schema.js';
import { readSecret } from '../secrets.js';
import { MAX_ANSWER, type HookTransport } from '../transport.js';
import type { AddressGuard, Resolve } from '@jetloop/platform';
import { post } from './post.js';
import { resolveAddresses } from './resolve-addresses.js';
import { signatureHeaders } from './sign.js';

const MAX_REDIRECTS = 3;
/** The ones that keep the method and the body. */
const REDIRECTS: readonly number[] = [307, 308];

export interface WebhookWorld {
  readonly env: NodeJS.ProcessEnv;
  readonly guard: AddressGuard;
  readonly resolve: Resolve;
  readonly now: () => Date;
  readonly randomId: () => string;
}

/** Asks a webhook: the event as a signed POST, the answer as a JSON body. */
export function webhookTransport({ url, secret: reference }: WebhookForm, world: WebhookWorld): HookTransport {
  return async (event, { signal }) => {
    const secret = await readSecret(reference, world.env);
    const body = withRequestId(event, world.randomId());
    const headers = {
      'Content-Type': 'application/json',
      Accept: 'application/json',
      'User-Agent': 'jetloop-hook-policy',
      ...signatureHeaders(secret, body, world.now()),
    };
    let target = new URL(url);
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const addresses = await resolveAddresses(target, world.resolve, world.guard);
      const answer = await post({ url: target, addresses, headers, body, signal, maxAnswer: MAX_ANSWER });
      if (answer.status >= 200 && answer.status <= 299) return { kind: 'answer', bytes: answer.body, plainText: false };
      if (!REDIRECTS.includes(answer.status) || answer.location === undefined) throw failureOf(answer.status);
      target = nextTarget(target, answer.location);
    }
    throw new PolicyError('too_many_redirects', `expected at most ${MAX_REDIRECTS} redirects`);
  };
}

/** An id of the request goes into the signed body, so that a receiver can tell a replay from a request. */
function withRequestId(event: Uint8Array, requestId: string): Uint8Array {
  const text = Buffer.from(event).toString('utf8');
  return Buffer.from(`{"request_id":${JSON.stringify(requestId)},${text.slice(1)}`);
}

function failureOf(status: number): PolicyError {
  return new PolicyError(`http_${status}`, `expected a status from 200 to 299, got ${status}`, `HTTP ${status}`);
}

function nextTarget(from: URL, location: string): URL {
  const target = URL.parse(location, from.href);
  if (!target || !['http:', 'https:'].includes(target.protocol)) {
    throw new PolicyError('bad_redirect', 'expected a redirect to an http or https address');
  }
  if (from.protocol === 'https:' && target.protocol !== 'https:') {
    throw new PolicyError('bad_redirect', 'expected a redirect from https to https');
  }
  return target;
}

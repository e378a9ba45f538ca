import type { LlmError, LlmErrorCode } from '@jetloop/contracts';
import { errorFacts } from './error-facts.js';
import { isOverflow, type RequestSize } from './overflow.js';
import { retryAfterMs, type HeaderValues } from './retry-after.js';
import { scrub } from './scrub.js';

const RETRYABLE: ReadonlySet<LlmErrorCode> = new Set(['rate_limited', 'overloaded', 'network', 'incomplete_stream']);
const QUOTA = /quota|billing|credit|balance|spending limit|payment/i;
const BAD_KEY = /invalid[ _]api[ _]key|incorrect api key|api key not valid|api_key_invalid/i;

/** What the request held, for judging and cleaning what comes back. */
export interface RequestFacts {
  readonly size: RequestSize;
  /** Texts of the request and the key: cut out of every message. */
  readonly secrets: readonly string[];
}

/** An error answer of a provider, or an error object inside a stream (then without status). */
export interface ErrorAnswer {
  readonly status?: number;
  readonly headers: HeaderValues;
  /** Parsed JSON, else the text; undefined: nothing. */
  readonly body: unknown;
}

/** An error of the router's own making: code, words, nothing from the request. */
export function llmError(code: LlmErrorCode, message: string, more: Partial<LlmError> = {}): LlmError {
  return { code, message, retryable: RETRYABLE.has(code), ...more };
}

/** What a provider's error answer means (spec 4.6). */
export function providerError(answer: ErrorAnswer, request: RequestFacts, now: number): LlmError {
  const facts = errorFacts(answer.body);
  const status = answer.status ?? facts?.status;
  const codes = facts?.codes.map((code) => code.toLowerCase()) ?? [];
  const after = retryAfterMs(answer.headers, answer.body, now);
  const hasBody = answer.body !== undefined && answer.body !== '';
  const overflowText = facts?.message ?? (hasBody ? JSON.stringify(answer.body) : undefined);
  const code = codeOf(status, codes, facts?.message ?? '', after !== undefined, () =>
    isOverflow(codes, overflowText, request.size),
  );
  const said = facts?.message === undefined ? '' : scrub(facts.message, request.secrets);
  const providerCode = facts?.codes.find((value) => isPlain(value, request.secrets));
  return llmError(code, said === '' ? `the provider answered with ${status ?? 'an error'}` : said, {
    ...(status === undefined ? {} : { status }),
    ...(after === undefined ? {} : { retryAfterMs: after }),
    ...(providerCode === undefined ? {} : { providerCode }),
  });
}

function codeOf(
  status: number | undefined,
  codes: readonly string[],
  message: string,
  hasHint: boolean,
  overflows: () => boolean,
): LlmErrorCode {
  const words = [...codes, message].join(' ');
  switch (status) {
    case undefined:
      return withoutStatus(codes, words, hasHint, overflows);
    case 401:
    case 403:
      return 'auth';
    case 402:
      return 'quota_exceeded';
    case 404:
      return 'model_not_found';
    case 413:
      return overflows() ? 'context_overflow' : 'request_too_large';
    case 429:
      return QUOTA.test(words) && !hasHint ? 'quota_exceeded' : 'rate_limited';
    case 503:
    case 529:
      return 'overloaded';
    case 400:
    case 422:
      if (overflows()) return 'context_overflow';
      if (BAD_KEY.test(words)) return 'auth';
      return codes.some((code) => /model_not_(found|exist)/.test(code)) ? 'model_not_found' : 'bad_request';
    default:
      if (status >= 500) return 'server_error';
      return status >= 400 ? 'bad_request' : 'protocol';
  }
}

/** An error object inside a 200 answer: only its own words can tell. */
function withoutStatus(
  codes: readonly string[],
  words: string,
  hasHint: boolean,
  overflows: () => boolean,
): LlmErrorCode {
  const named = (pattern: RegExp) => codes.some((code) => pattern.test(code));
  if (named(/insufficient_quota|billing/)) return hasHint ? 'rate_limited' : 'quota_exceeded';
  if (named(/rate_limit|too_many_requests|resource_exhausted/)) return 'rate_limited';
  if (named(/overloaded|unavailable|capacity/)) return 'overloaded';
  if (named(/authentication|permission|unauthorized|invalid_api_key/) || BAD_KEY.test(words)) return 'auth';
  if (named(/model_not_(found|exist)/)) return 'model_not_found';
  if (words.trim() !== '' && overflows()) return 'context_overflow';
  if (named(/invalid_request|bad_request|invalid_argument/)) return 'bad_request';
  return 'server_error';
}

function isPlain(code: string, secrets: readonly string[]): boolean {
  return /^[\w.:/-]{1,64}$/.test(code) && scrub(code, secrets) === code;
}

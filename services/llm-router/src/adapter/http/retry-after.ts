/** Header values by lower-case name, as undici gives them. */
export type HeaderValues = Readonly<Record<string, string | string[] | undefined>>;

const SECONDS = /^\d+(\.\d+)?$/;
/** A day. More is a slip of the provider, at worst beyond what a date can hold, and would rest the target for good. */
const MAX_MS = 86_400_000;

/**
 * How long the provider asks to wait, in milliseconds: `retry-after-ms`, then `Retry-After` (seconds with decimals, or an
 * HTTP-date), then Google's RetryInfo in the body; at most a day. undefined: no hint, an unreadable one, or a date in
 * the past.
 */
export function retryAfterMs(headers: HeaderValues, body: unknown, now: number): number | undefined {
  const asked = askedMs(headers, body, now);
  return asked === undefined ? undefined : Math.min(asked, MAX_MS);
}

function askedMs(headers: HeaderValues, body: unknown, now: number): number | undefined {
  const milliseconds = first(headers['retry-after-ms']);
  if (milliseconds !== undefined && SECONDS.test(milliseconds)) return Number(milliseconds);
  const header = first(headers['retry-after']);
  return (header === undefined ? undefined : fromHeader(header, now)) ?? fromRetryInfo(body);
}

function fromHeader(value: string, now: number): number | undefined {
  if (SECONDS.test(value)) return Math.round(Number(value) * 1000);
  // Date.parse reads bare numbers as years; an HTTP-date always has letters and a clock time.
  if (!/[a-z].*\d\d:\d\d/i.test(value)) return undefined;
  const date = Date.parse(value);
  return Number.isNaN(date) || date <= now ? undefined : date - now;
}

/** `{error: {details: [{"@type": ".../google.rpc.RetryInfo", retryDelay: "34.4s"}]}}` */
function fromRetryInfo(body: unknown): number | undefined {
  const error = property(Array.isArray(body) ? body[0] : body, 'error');
  const details = property(error, 'details');
  if (!Array.isArray(details)) return undefined;
  for (const detail of details) {
    const delay = property(detail, 'retryDelay');
    const seconds = typeof delay === 'string' ? /^(\d+(?:\.\d+)?)s$/.exec(delay)?.[1] : undefined;
    if (seconds !== undefined) return Math.round(Number(seconds) * 1000);
  }
  return undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && name in value
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

function first(value: string | string[] | undefined): string | undefined {
  return (Array.isArray(value) ? value[0] : value)?.trim();
}

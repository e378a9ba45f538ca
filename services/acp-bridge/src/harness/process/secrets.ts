import type { HarnessEvent, Json } from '@jetloop/contracts';

const HIDDEN = '[secret]';
/** Characters: a shorter value is part of ordinary words, and no secret. */
const LEAST = 6;
/** Fields of our own that are no text of the agent. */
const FIXED = new Set(['type', 'kind', 'of', 'mediaType', 'digest', 'finishReason', 'decision']);

/** Values that a spec gives to its agent by reference. What reaches the log has `[secret]` in their place. */
export class Secrets {
  /** As they are, and as they stand within a JSON text; the longest first. */
  private values: string[] = [];

  add(value: string): void {
    if (value.length < LEAST) return;
    const forms = [...this.values, value, JSON.stringify(value).slice(1, -1)];
    this.values = [...new Set(forms)].sort((a, b) => b.length - a.length);
  }

  /** Bytes of the longest one. */
  get longest(): number {
    return Math.max(0, ...this.values.map((value) => Buffer.byteLength(value)));
  }

  text(text: string): string {
    return this.values.reduce((rest, value) => rest.replaceAll(value, HIDDEN), text);
  }

  bytes(bytes: Buffer): Buffer {
    if (this.values.length === 0) return bytes;
    const replaced = this.values.reduce(
      (rest, value) => rest.replaceAll(latin(value), HIDDEN),
      bytes.toString('latin1'),
    );
    return Buffer.from(replaced, 'latin1');
  }

  event(event: HarnessEvent): HarnessEvent {
    if (this.values.length === 0 || !this.isIn(event)) return event;
    const raw = event.type === 'harness.raw';
    return { ...event, data: this.json(event.data as Json, raw ? undefined : FIXED) } as HarnessEvent;
  }

  /** The last bytes, `limit` at most, as text. A secret that reaches over their beginning is left out whole. */
  tail(bytes: Buffer, limit: number): string {
    let start = Math.max(0, bytes.length - limit);
    for (const value of this.values.map((one) => Buffer.from(one))) {
      const at = bytes.indexOf(value, Math.max(0, start - value.length + 1));
      if (at >= 0 && at < start) start = at + value.length;
    }
    // A character that was cut at the front is left out too.
    while (((bytes[start] ?? 0) & 0xc0) === 0x80) start++;
    return this.text(bytes.subarray(start).toString('utf8'));
  }

  /** Whether an event's text may hold one. */
  private isIn(event: HarnessEvent): boolean {
    const text = JSON.stringify(event);
    return text.includes('"base64"') || this.values.some((value) => text.includes(JSON.stringify(value).slice(1, -1)));
  }

  private json(value: Json, fixed?: ReadonlySet<string>): Json {
    if (typeof value === 'string') return this.text(value);
    if (typeof value !== 'object' || value === null) return value;
    if (Array.isArray(value)) return value.map((item) => this.json(item, fixed));
    const entries = Object.entries(value).map(([key, item]): [string, Json] => [
      this.text(key),
      fixed?.has(key) ? item : key === 'base64' ? this.base64(item) : this.json(item, fixed),
    ]);
    return Object.fromEntries(entries);
  }

  /** Bytes that are no text stand in the log so. */
  private base64(value: Json): Json {
    if (typeof value !== 'string') return this.json(value);
    const bytes = Buffer.from(value, 'base64');
    const clean = this.bytes(bytes);
    return clean.equals(bytes) ? value : clean.toString('base64');
  }
}

function latin(value: string): string {
  return Buffer.from(value).toString('latin1');
}

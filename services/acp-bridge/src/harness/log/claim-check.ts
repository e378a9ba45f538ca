import { jsonBytes, type BlobRef, type ContentBlock, type HarnessEvent, type Json } from '@jetloop/contracts';
import { essence } from '../translation/essence.js';
import { isObject } from '../translation/frame.js';

/** Bytes of JSON above which a value goes to the blob store (spec 2.1). */
export const MAX_VALUE_BYTES = 128 * 1024;

export interface Store {
  readonly put: (bytes: Buffer, mediaType: string) => Promise<BlobRef>;
  /** The blocks with references in place of the large ones, as every content of a log has them. */
  readonly keep: (blocks: readonly ContentBlock[]) => Promise<ContentBlock[]>;
}

/** The event with every value over 128 KiB replaced by a reference to a blob; the same event where none is. */
export async function claimCheck(event: HarnessEvent, store: Store): Promise<HarnessEvent> {
  switch (event.type) {
    case 'harness.raw':
      return { ...event, data: { ...event.data, value: await checkedValue(event.data, store) } };
    case 'tool.call': {
      const { effective, arguments: text } = event.data;
      if (Buffer.byteLength(text) <= MAX_VALUE_BYTES) return event;
      const blob = { blob: await store.put(Buffer.from(text), 'application/json') };
      return { ...event, data: { ...event.data, arguments: JSON.stringify(blob), effective: effective && blob } };
    }
    case 'tool.result': {
      const { content, output = null } = event.data;
      const checked = { content: await store.keep(content), output: await checkedJson(output, store) };
      return { ...event, data: { ...event.data, ...checked } };
    }
    case 'user.message':
      return { ...event, data: { ...event.data, ...(await checkedMessage(event.data, store)) } };
    case 'assistant.message':
      return { ...event, data: { ...event.data, ...(await checkedMessage(event.data, store)) } };
  }
}

async function checkedMessage(message: { content: ContentBlock[]; meta?: Json[] | undefined }, store: Store) {
  const content = await store.keep(message.content);
  if (!message.meta) return { content };
  const size = jsonBytes(message.meta);
  return { content, meta: size <= MAX_VALUE_BYTES ? message.meta : [await checkedJson(message.meta, store)] };
}

async function checkedValue({ source, value }: { source: string; value: Json }, store: Store): Promise<Json> {
  const checked = await checkedJson(value, store);
  return checked === value || !isObject(checked) ? checked : { ...checked, ...essence(source, value) };
}

async function checkedJson(value: Json, { put }: Store): Promise<Json> {
  const bytes = Buffer.from(JSON.stringify(value));
  return bytes.length <= MAX_VALUE_BYTES ? value : { blob: await put(bytes, 'application/json') };
}

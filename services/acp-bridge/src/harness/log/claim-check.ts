import type { BlobRef, ContentBlock, HarnessEvent, Json } from '@jetloop/contracts';

/** Bytes of JSON above which a value goes to the blob store (spec 2.1). */
export const MAX_VALUE_BYTES = 128 * 1024;

type Put = (bytes: Buffer, mediaType: string) => Promise<BlobRef>;

/** The event with every value over 128 KiB replaced by a reference to a blob; the same event where none is. */
export async function claimCheck(event: HarnessEvent, put: Put): Promise<HarnessEvent> {
  switch (event.type) {
    case 'harness.raw':
      return { ...event, data: { ...event.data, value: await checkedJson(event.data.value, put) } };
    case 'tool.call': {
      const { effective, arguments: text } = event.data;
      if (Buffer.byteLength(text) <= MAX_VALUE_BYTES) return event;
      const blob = { blob: await put(Buffer.from(text), 'application/json') };
      return { ...event, data: { ...event.data, arguments: JSON.stringify(blob), effective: effective && blob } };
    }
    case 'tool.result': {
      const { content, output = null } = event.data;
      const checked = { content: await checkedBlocks(content, put), output: await checkedJson(output, put) };
      return { ...event, data: { ...event.data, ...checked } };
    }
    case 'user.message':
      return { ...event, data: { ...event.data, ...(await checkedMessage(event.data, put)) } };
    case 'assistant.message':
      return { ...event, data: { ...event.data, ...(await checkedMessage(event.data, put)) } };
  }
}

async function checkedMessage(message: { content: ContentBlock[]; meta?: Json[] | undefined }, put: Put) {
  const content = await checkedBlocks(message.content, put);
  if (!message.meta) return { content };
  const size = Buffer.byteLength(JSON.stringify(message.meta));
  return { content, meta: size <= MAX_VALUE_BYTES ? message.meta : [await checkedJson(message.meta, put)] };
}

function checkedBlocks(content: readonly ContentBlock[], put: Put): Promise<ContentBlock[]> {
  return Promise.all(
    content.map(async (block): Promise<ContentBlock> => {
      const text = JSON.stringify(block);
      if (Buffer.byteLength(text) <= MAX_VALUE_BYTES) return block;
      const isText = block.type === 'text' || block.type === 'reasoning';
      const bytes = Buffer.from(isText ? block.text : text);
      return { type: 'blob', of: block.type, blob: await put(bytes, isText ? 'text/plain' : 'application/json') };
    }),
  );
}

async function checkedJson(value: Json, put: Put): Promise<Json> {
  const bytes = Buffer.from(JSON.stringify(value));
  return bytes.length <= MAX_VALUE_BYTES ? value : { blob: await put(bytes, 'application/json') };
}

import { createHash } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import type { ContentBlock } from '@jetloop/contracts';
import { BlobNotFoundError } from './blob-store.js';
import { ClaimCheck, MAX_BLOCK_BYTES } from './claim-check.js';

function given() {
  const stored = new Map<string, Uint8Array>();
  const blobs = {
    put: (_tenant: string, _session: string, bytes: Uint8Array, mediaType: string) => {
      const digest = createHash('sha256').update(bytes).digest('hex');
      stored.set(digest, bytes);
      return Promise.resolve({ digest, size: bytes.length, mediaType });
    },
    get: (_tenant: string, _session: string, digest: string) => {
      const bytes = stored.get(digest);
      return bytes ? Promise.resolve(bytes) : Promise.reject(new BlobNotFoundError(digest));
    },
  };
  return { stored, check: new ClaimCheck(blobs) };
}

const text = (length: number, letter = 'x'): ContentBlock => ({ type: 'text', text: letter.repeat(length) });
const typesOf = (content: readonly ContentBlock[]) => content.map(({ type }) => type);

describe('the claim check', () => {
  it('keeps what is over 128 KiB outside, and brings it back as it was', async () => {
    const { check } = given();
    const content = [text(10), text(MAX_BLOCK_BYTES + 1), text(20)];
    const kept = await check.keep('acme', 's1', content, 1_000_000);
    expect(typesOf(kept)).toEqual(['text', 'blob', 'text']);
    expect(JSON.stringify(kept).length).toBeLessThan(500);
    expect(await check.restore('acme', 's1', kept)).toEqual(content);
    expect(await check.keep('acme', 's1', content, 1_000_000)).toEqual(kept);
  });

  it('keeps the largest outside until the rest fits, and leaves a small content alone', async () => {
    const { check, stored } = given();
    const content = [text(50_000, 'a'), text(90_000, 'b'), text(60_000, 'c')];
    expect(typesOf(await check.keep('acme', 's1', content, 120_000))).toEqual(['text', 'blob', 'text']);
    expect(typesOf(await check.keep('acme', 's1', content, 60_000))).toEqual(['text', 'blob', 'blob']);
    stored.clear();
    expect(await check.keep('acme', 's1', content, 300_000)).toEqual(content);
    expect(stored.size).toBe(0);
  });

  it('brings back an image that a tool kept as the bytes it is', async () => {
    const { check, stored } = given();
    stored.set('d', Buffer.from('pixels'));
    const kept: ContentBlock = { type: 'blob', of: 'image', blob: { digest: 'd', size: 6, mediaType: 'image/png' } };
    expect(await check.restore('acme', 's1', [kept])).toEqual([
      { type: 'image', mediaType: 'image/png', base64: Buffer.from('pixels').toString('base64') },
    ]);
  });

  it('leaves a reference where the bytes are gone, and references of others', async () => {
    const { check, stored } = given();
    const kept = await check.keep('acme', 's1', [text(MAX_BLOCK_BYTES + 1)], 1_000_000);
    stored.clear();
    expect(await check.restore('acme', 's1', kept)).toEqual(kept);
    const foreign: ContentBlock = {
      type: 'blob',
      of: 'output',
      blob: { digest: 'd', size: 1, mediaType: 'text/plain' },
    };
    expect(await check.restore('acme', 's1', [foreign])).toEqual([foreign]);
  });
});

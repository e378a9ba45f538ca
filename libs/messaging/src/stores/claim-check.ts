import { contentBlockSchema, jsonBytes, type BlobBlock, type ContentBlock } from '@jetloop/contracts';
import { BlobNotFoundError, type BlobStore } from './blob-store.js';

/** JSON bytes of a block that stays in the log at most; a larger one goes to the blob store. */
export const MAX_BLOCK_BYTES = 128 * 1024;

/** What a kept block is stored as: the block's own JSON. */
const BLOCK_MEDIA_TYPE = 'application/vnd.jetloop.block+json';
const MAX_RESTORED = 64;

/**
 * Keeps large blocks of contents outside the log, and brings them back (the claim check of spec 1.2). The same content gives
 * the same references.
 */
export class ClaimCheck {
  private readonly restored = new Map<string, ContentBlock>();

  constructor(private readonly blobs: Pick<BlobStore, 'get' | 'put'>) {}

  /**
   * The content with references in place of its large blocks: of those over 128 KiB, then of the largest, until the JSON of
   * what is left has at most `maxBytes`.
   */
  async keep<T extends ContentBlock>(
    tenant: string,
    session: string,
    content: readonly T[],
    maxBytes: number,
  ): Promise<(T | BlobBlock)[]> {
    const sizes = content.map((block) => (block.type === 'blob' ? 0 : jsonBytes(block)));
    let left = sizes.reduce((total, size) => total + size, 0);
    const kept = new Set<number>();
    const largestFirst = sizes.map((size, index) => ({ size, index })).sort((a, b) => b.size - a.size);
    for (const { size, index } of largestFirst) {
      if (size <= MAX_BLOCK_BYTES && left <= maxBytes) break;
      kept.add(index);
      left -= size;
    }
    return Promise.all(
      content.map(async (block, index) => (kept.has(index) ? await this.reference(tenant, session, block) : block)),
    );
  }

  /** The content as it was; a block whose bytes are gone stays a reference. */
  async restore(tenant: string, session: string, content: readonly ContentBlock[]): Promise<ContentBlock[]> {
    return Promise.all(content.map((block) => this.block(tenant, session, block)));
  }

  private async reference(tenant: string, session: string, block: ContentBlock): Promise<BlobBlock> {
    const bytes = Buffer.from(JSON.stringify(block));
    return { type: 'blob', of: block.type, blob: await this.blobs.put(tenant, session, bytes, BLOCK_MEDIA_TYPE) };
  }

  private async block(tenant: string, session: string, block: ContentBlock): Promise<ContentBlock> {
    if (block.type !== 'blob' || !isRestorable(block)) return block;
    const key = `${tenant}.${session}.${block.blob.digest}`;
    const known = this.restored.get(key);
    if (known) return known;
    try {
      const bytes = await this.blobs.get(tenant, session, block.blob.digest);
      const value = asBlock(block, bytes);
      if (this.restored.size >= MAX_RESTORED) this.restored.clear();
      this.restored.set(key, value);
      return value;
    } catch (error) {
      if (error instanceof BlobNotFoundError) return block;
      throw error;
    }
  }
}

/** A block of the claim check, or an image that a tool kept as the bytes it is. */
function isRestorable({ of, blob }: BlobBlock): boolean {
  return blob.mediaType === BLOCK_MEDIA_TYPE || (of === 'image' && blob.mediaType.startsWith('image/'));
}

function asBlock({ blob }: BlobBlock, bytes: Uint8Array): ContentBlock {
  if (blob.mediaType !== BLOCK_MEDIA_TYPE)
    return { type: 'image', mediaType: blob.mediaType, base64: Buffer.from(bytes).toString('base64') };
  return contentBlockSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
}

import { createHash } from 'node:crypto';
import { requireToken, type BlobRef } from '@jetloop/contracts';
import type { ObjectStore } from 'nats';
import type { Bus } from '../connection/bus.js';

/** The store holds nothing under this digest. */
export class BlobNotFoundError extends Error {
  override readonly name = 'BlobNotFoundError';
  constructor(digest: string) {
    super(`There is no blob ${digest}.`);
  }
}

const MAX_KNOWN = 10_000;

/** Contents too large for a message, by their SHA-256 (object store BLOBS, `<tenant>.<session>.<digest>`). */
export class BlobStore {
  private store: Promise<ObjectStore> | undefined;
  private readonly known = new Set<string>();

  constructor(private readonly bus: Bus) {}

  /**
   * Stores bytes; the same bytes of a session are stored once. `forGood`: nobody deletes them, so that it is remembered that they
   * are stored.
   */
  async put(
    tenant: string,
    session: string,
    bytes: Uint8Array,
    mediaType: string,
    { forGood = false } = {},
  ): Promise<BlobRef> {
    const digest = createHash('sha256').update(bytes).digest('hex');
    const name = nameOf(tenant, session, digest);
    if (!this.known.has(name)) {
      const store = await this.open();
      await storeOnce(store, name, (options) => store.putBlob({ name }, bytes, options));
      if (this.known.size >= MAX_KNOWN) this.known.clear();
      if (forGood) this.known.add(name);
    }
    return { digest, size: bytes.length, mediaType };
  }

  /**
   * Stores what comes piece by piece, under the digest that its bytes are known to have. No more of it is in memory than a few
   * pieces: the next one is taken when the server has the ones before.
   */
  async putStream(
    tenant: string,
    session: string,
    { digest, source }: { readonly digest: string; readonly source: AsyncIterable<Uint8Array> },
  ): Promise<void> {
    const name = nameOf(tenant, session, digest);
    const store = await this.open();
    await storeOnce(store, name, (options) => store.put({ name }, this.paced(source), options));
  }

  /** @throws BlobNotFoundError */
  async get(tenant: string, session: string, digest: string): Promise<Uint8Array> {
    const bytes = await (await this.open()).getBlob(nameOf(tenant, session, digest));
    if (bytes === null) throw new BlobNotFoundError(digest);
    return bytes;
  }

  /** Deletes the bytes; where there are none, nothing. The caller makes sure that nothing refers to them. */
  async delete(tenant: string, session: string, digest: string): Promise<void> {
    await (await this.open()).delete(nameOf(tenant, session, digest));
  }

  private paced(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
    const pieces = source[Symbol.asyncIterator]();
    return new ReadableStream<Uint8Array>({
      pull: async (controller) => {
        await this.bus.nats.flush();
        const piece: IteratorResult<Uint8Array, unknown> = await pieces.next();
        if (piece.done === true) controller.close();
        else controller.enqueue(piece.value);
      },
    });
  }

  private open(): Promise<ObjectStore> {
    this.store ??= this.bus.nats
      .jetstream()
      .views.os('BLOBS')
      .catch((error: unknown) => {
        this.store = undefined; // the next one tries again
        throw error;
      });
    return this.store;
  }
}

/**
 * Stores what is not stored yet; the store remembers the name of what was deleted. Of several at once the first one counts, and
 * the others leave nothing behind.
 */
async function storeOnce(
  store: ObjectStore,
  name: string,
  put: (options: { readonly previousRevision: number }) => Promise<unknown>,
): Promise<void> {
  const before = await store.info(name);
  if (before && !before.deleted) return;
  try {
    await put({ previousRevision: before?.revision ?? 0 });
  } catch (error) {
    const now = await store.info(name);
    if (!now || now.deleted) throw error;
  }
}

function nameOf(tenant: string, session: string, digest: string): string {
  return `${requireToken('tenant', tenant)}.${requireToken('session', session)}.${digest}`;
}

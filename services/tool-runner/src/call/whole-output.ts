import { createHash, randomUUID } from 'node:crypto';
import { open, unlink, type FileHandle } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BlobStore } from '@jetloop/messaging';
import type { OutputSink } from '../tool/output-collector.js';

/**
 * Keeps an output that is too long for the model whole: on disk while it comes, in the blob store at its end, by its digest.
 * Memory holds one piece of it at a time.
 */
export class WholeOutput implements OutputSink {
  readonly #hash = createHash('sha256');
  #file: Promise<FileHandle> | undefined;
  #size = 0;
  #isLost = false;

  constructor(
    private readonly blobs: Pick<BlobStore, 'putStream'>,
    private readonly tenant: string,
    private readonly session: string,
    /** Told when the whole could not be kept: the call's result stands without it. */
    private readonly onFailure: (error: unknown) => void,
    private readonly folder = tmpdir(),
  ) {}

  async write(chunk: Uint8Array): Promise<void> {
    if (this.#isLost) return;
    try {
      this.#file ??= openUnlinked(this.folder);
      const file = await this.#file;
      await file.write(chunk, 0, chunk.length, this.#size);
      this.#hash.update(chunk);
      this.#size += chunk.length;
    } catch (error) {
      this.#isLost = true;
      this.onFailure(error);
      await this.close();
    }
  }

  /** The digest under which the blob store has it. */
  async end(): Promise<string | undefined> {
    try {
      const file = await this.#file;
      if (!file) return undefined;
      const digest = this.#hash.digest('hex');
      const source = file.createReadStream({ start: 0, autoClose: false, highWaterMark: 128 * 1024 });
      await this.blobs.putStream(this.tenant, this.session, { digest, source });
      return digest;
    } catch (error) {
      this.onFailure(error);
      return undefined;
    } finally {
      await this.close();
    }
  }

  /** Lets go of what is kept on disk; for a call that ended without it, too. */
  async close(): Promise<void> {
    const file = await this.#file?.catch(() => undefined);
    this.#file = undefined;
    await file?.close();
  }
}

/** Without a name, it is gone with this process, however that ends. */
async function openUnlinked(folder: string): Promise<FileHandle> {
  const path = join(folder, `jetloop-output-${randomUUID()}`);
  const file = await open(path, 'wx+', 0o600);
  await unlink(path);
  return file;
}

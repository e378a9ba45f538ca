import { Injectable } from '@nestjs/common';
import { BlobStore } from '@jetloop/messaging';
import { z } from 'zod';
import type { ToolSchema } from '../adapter/part.js';

const schemasSchema = z.array(
  z.object({ name: z.string(), description: z.string(), inputSchema: z.record(z.string(), z.unknown()) }),
);
const MAX_CACHED = 1_000;

/** Tool schemas by their digest, which is that of their bytes: once read, good for every session. */
@Injectable()
export class ToolSchemas {
  private readonly cache = new Map<string, readonly ToolSchema[]>();

  constructor(private readonly blobs: BlobStore) {}

  async get(tenant: string, session: string, digest: string): Promise<readonly ToolSchema[]> {
    const known = this.cache.get(digest);
    if (known) return known;
    const value: unknown = JSON.parse(Buffer.from(await this.blobs.get(tenant, session, digest)).toString('utf8'));
    const schemas = schemasSchema.parse(value);
    if (this.cache.size >= MAX_CACHED) this.cache.clear();
    this.cache.set(digest, schemas);
    return schemas;
  }
}

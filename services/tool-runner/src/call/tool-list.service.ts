import { Injectable } from '@nestjs/common';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import { BlobStore } from '@jetloop/messaging';
import { listingOf } from '../tool/tool-registry.js';
import { Tools } from './tools.js';

type ListCommand = Extract<ToolCommand, { op: 'list' }>;

/** Lists what an agent may use. */
@Injectable()
export class ToolListService {
  constructor(
    private readonly tools: Tools,
    private readonly blobs: BlobStore,
  ) {}

  /** The tools of an agent that are there; their schemas go to the blob store, under the digest of the answer. */
  async list(command: ListCommand): Promise<ToolReply> {
    const { tools: found, unavailable } = await this.tools.list(command);
    const listings = found.filter((tool) => tool.readonly || !command.readonly).map(listingOf);
    const schemas = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const bytes = Buffer.from(JSON.stringify(schemas));
    const { tenant, session } = command;
    const { digest } = await this.blobs.put(tenant, session, bytes, 'application/json', { forGood: true });
    const tools = listings.map(({ name, readonly, idempotent, schemaHash }) => ({
      name,
      readonly,
      idempotent,
      schemaHash,
    }));
    return { commandId: command.commandId, kind: 'tool', result: { status: 'listed', digest, tools, unavailable } };
  }
}

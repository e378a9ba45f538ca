import { Injectable } from '@nestjs/common';
import type { ToolCommand, ToolReply } from '@jetloop/contracts';
import { BlobStore } from '@jetloop/messaging';
import { ToolRegistry } from '../tool/tool-registry.js';

type ListCommand = Extract<ToolCommand, { op: 'list' }>;

/** Lists what an agent may use. */
@Injectable()
export class ToolListService {
  constructor(
    private readonly registry: ToolRegistry,
    private readonly blobs: BlobStore,
  ) {}

  /** The tools of an agent that are there; their schemas go to the blob store, under the digest of the answer. */
  async list(command: ListCommand): Promise<ToolReply> {
    const wanted = command.tools.includes('*') ? this.registry.list().map(({ name }) => name) : command.tools;
    const listings = this.registry
      .list()
      .filter((tool) => wanted.includes(tool.name) && (tool.readonly || !command.readonly));
    const schemas = listings.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
    const bytes = Buffer.from(JSON.stringify(schemas));
    const { digest } = await this.blobs.put(command.tenant, command.session, bytes, 'application/json');
    const tools = listings.map(({ name, readonly, idempotent, schemaHash }) => ({
      name,
      readonly,
      idempotent,
      schemaHash,
    }));
    const unavailable = wanted
      .filter((name) => !this.registry.get(name))
      .map((name) => ({ name, reason: 'this runner has no tool of that name' }));
    return { commandId: command.commandId, kind: 'tool', result: { status: 'listed', digest, tools, unavailable } };
  }
}

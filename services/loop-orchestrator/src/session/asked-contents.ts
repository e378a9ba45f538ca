import { Injectable } from '@nestjs/common';
import type { SettledResult } from '@jetloop/contracts';
import { BlobStore, Journal } from '@jetloop/messaging';
import { openCalls, type CallState, type SessionState } from '@jetloop/session';

/** Large contents of results that policies saw first: what they took out stays in no blob (spec 2.3, 7). */
@Injectable()
export class AskedContents {
  /** Digests by session that another call, which still runs, may bring too: a process that dies leaves these behind. */
  private readonly waiting = new Map<string, readonly string[]>();

  constructor(
    private readonly journal: Journal,
    private readonly blobs: BlobStore,
  ) {}

  /** Deletes what a question about a result referred to and the log does not, once no call runs. Again, it finds nothing. */
  async release(
    tenant: string,
    session: string,
    asked: SettledResult | undefined,
    stateOf: () => Promise<SessionState | undefined>,
  ): Promise<void> {
    const key = `${tenant}.${session}`;
    const digests = [...new Set([...(this.waiting.get(key) ?? []), ...digestsOf(asked)])];
    if (digests.length === 0) return;
    const state = await stateOf();
    if (state && openCalls(state).some(isRunning)) {
      this.waiting.set(key, digests);
      return;
    }
    this.waiting.delete(key);
    const log = JSON.stringify(await this.journal.load(tenant, session, 0));
    const unused = digests.filter((digest) => !log.includes(digest));
    await Promise.all(unused.map((digest) => this.blobs.delete(tenant, session, digest)));
  }
}

function isRunning({ decided, settled, approval }: CallState): boolean {
  return decided !== undefined && !settled && (!approval || approval.outcome !== undefined);
}

/** Digests of the blobs that a result refers to: of its blocks, and of what its output keeps whole. */
function digestsOf(result: SettledResult | undefined): string[] {
  const { content = [], output } = result ?? {};
  const blocks = content.flatMap((block) =>
    block.type === 'blob' || block.type === 'resource' ? (block.blob ?? []) : [],
  );
  return [...blocks.map(({ digest }) => digest), ...(JSON.stringify(output ?? null).match(/\b[0-9a-f]{64}\b/g) ?? [])];
}

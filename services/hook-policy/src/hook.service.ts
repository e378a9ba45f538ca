import { policyVersionFor, type BlobRef, type HookCommand, type HookReply } from '@jetloop/contracts';
import { BlobNotFoundError, BlobStore, PolicyStore, RetryableError } from '@jetloop/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { evaluate } from './evaluate/evaluate.js';
import { PolicySets } from './policy-sets.js';

/** Answers a seam with the policies that are stored now. */
@Injectable()
export class HookService {
  private readonly sets = new PolicySets();

  constructor(
    @Inject(PolicyStore) private readonly store: Pick<PolicyStore, 'sets'>,
    @Inject(BlobStore) private readonly blobs: Pick<BlobStore, 'get'>,
  ) {}

  /** @throws RetryableError at shutdown and when the infrastructure failed: the question is asked again */
  async decide(command: HookCommand, signal: AbortSignal): Promise<HookReply> {
    const { tenant, session, turn, step, subject } = command;
    const stored = this.store.sets();
    const policyVersion = policyVersionFor(stored, { tenant, agent: subject.agent });
    const readBlob = (blob: BlobRef): Promise<Uint8Array> => this.readBlob(tenant, session, blob);
    const context = { tenant, session, turn, step, signal, readBlob };
    try {
      const evaluation = await evaluate(this.sets.policies(stored), subject, context);
      const asked = subject.seam === 'post-tool' ? { asked: subject.result } : {};
      const about = { commandId: command.commandId, kind: 'hook', seam: subject.seam, policyVersion } as const;
      return { ...about, ...asked, hooks: [], ...evaluation };
    } catch (error) {
      if (signal.aborted) throw new RetryableError('stopped before the policies had decided', { cause: error });
      throw error;
    }
  }

  private async readBlob(tenant: string, session: string, blob: BlobRef): Promise<Uint8Array> {
    try {
      return await this.blobs.get(tenant, session, blob.digest);
    } catch (error) {
      if (error instanceof BlobNotFoundError) throw error;
      throw new RetryableError(`the content ${blob.digest} could not be read`, { cause: error });
    }
  }
}

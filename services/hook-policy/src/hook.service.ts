import {
  policyVersionFor,
  type BlobRef,
  type DerivedMessage,
  type HookCommand,
  type HookReply,
} from '@jetloop/contracts';
import {
  BlobNotFoundError,
  BlobStore,
  ClaimCheck,
  PolicyStore,
  ResponderChannel,
  restoreContents,
  RetryableError,
  SessionReader,
} from '@jetloop/messaging';
import { systemResolve } from '@jetloop/platform';
import { deriveMessages } from '@jetloop/session';
import { Inject, Injectable } from '@nestjs/common';
import { evaluate } from './evaluate/evaluate.js';
import { HOOK_POLICY_OPTIONS, type HookPolicyOptions } from './options.js';
import { policyForms } from './policy-forms.js';
import { PolicySets } from './policy-sets.js';
import type { SeamContext } from './policy/policy.js';

/** Answers a seam with the policies that are stored now. */
@Injectable()
export class HookService {
  private readonly sets: PolicySets;

  constructor(
    @Inject(PolicyStore) private readonly store: Pick<PolicyStore, 'sets'>,
    @Inject(BlobStore) private readonly blobs: Pick<BlobStore, 'get'>,
    @Inject(ClaimCheck) private readonly contents: Pick<ClaimCheck, 'restore'>,
    @Inject(SessionReader) private readonly sessions: Pick<SessionReader, 'read'>,
    @Inject(ResponderChannel) responders: Pick<ResponderChannel, 'request'>,
    @Inject(HOOK_POLICY_OPTIONS) { plugins = [], webhookAddresses = [] }: HookPolicyOptions,
  ) {
    const { env } = process;
    this.sets = new PolicySets(policyForms({ plugins, webhookAddresses, responders, env, resolve: systemResolve }));
  }

  /** @throws RetryableError at shutdown and when the infrastructure failed: the question is asked again */
  async decide(command: HookCommand, signal: AbortSignal): Promise<HookReply> {
    const { tenant, subject, commandId } = command;
    const stored = this.store.sets();
    const policyVersion = policyVersionFor(stored, { tenant, agent: subject.agent });
    try {
      const evaluation = await evaluate(this.sets.policies(stored), subject, this.contextOf(command, signal));
      const asked = subject.seam === 'post-tool' ? { asked: subject.result } : {};
      return { commandId, kind: 'hook', seam: subject.seam, policyVersion, ...asked, ...evaluation };
    } catch (error) {
      if (signal.aborted) throw new RetryableError('stopped before the policies had decided', { cause: error });
      throw error;
    }
  }

  private contextOf(command: HookCommand, signal: AbortSignal): SeamContext {
    const { tenant, session, turn, step, commandId } = command;
    let messages: ReturnType<SeamContext['messages']> | undefined;
    return {
      ...{ tenant, session, turn, step, commandId, signal },
      readBlob: (blob) => this.readBlob(tenant, session, blob),
      // Read once, for the first policy that wants them.
      messages: () => (messages ??= this.conversation(command)),
    };
  }

  /** Whole, as the model is about to see it: the log only refers to what is large. */
  private async conversation({ tenant, session, upTo }: HookCommand): Promise<DerivedMessage[]> {
    const events = await this.sessions.read(tenant, session, upTo);
    const whole = await restoreContents(this.contents, { tenant, session }, events.slice(0, upTo + 1)).catch(
      (error: unknown) => {
        throw new RetryableError('a content of the conversation could not be read', { cause: error });
      },
    );
    return deriveMessages(whole);
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

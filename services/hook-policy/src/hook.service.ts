import {
  changesNothing,
  jsonBytes,
  policyVersionFor,
  type BlobRef,
  type DerivedMessage,
  type FollowingQuestion,
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
import { asksOutside, evaluate } from './evaluate/evaluate.js';
import { withinLimit } from './evaluate/within-limit.js';
import { HOOK_POLICY_OPTIONS, type HookPolicyOptions } from './options.js';
import { policyForms } from './policy-forms.js';
import { PolicySets } from './policy-sets.js';
import type { SeamContext } from './policy/policy.js';

/** JSON bytes of a reply that takes answers along: it has to fit one message, and what it makes of the session one commit. */
const MAX_TOGETHER = 256 * 1024;

type Answer = Omit<NonNullable<HookReply['followed']>[number], 'commandId' | 'digest'>;
type Question = Omit<FollowingQuestion, 'digest'>;

/** Answers a seam with the policies that are stored now. */
@Injectable()
export class HookService {
  private readonly sets: PolicySets;
  private readonly followingMs: number;

  constructor(
    @Inject(PolicyStore) private readonly store: Pick<PolicyStore, 'sets'>,
    @Inject(BlobStore) private readonly blobs: Pick<BlobStore, 'get'>,
    @Inject(ClaimCheck) private readonly contents: Pick<ClaimCheck, 'restore'>,
    @Inject(SessionReader) private readonly sessions: Pick<SessionReader, 'read'>,
    @Inject(ResponderChannel) responders: Pick<ResponderChannel, 'request'>,
    @Inject(HOOK_POLICY_OPTIONS) { plugins = [], webhookAddresses = [], followingMs = 5_000 }: HookPolicyOptions,
  ) {
    const { env } = process;
    this.followingMs = followingMs;
    this.sets = new PolicySets(policyForms({ plugins, webhookAddresses, responders, env, resolve: systemResolve }));
  }

  /**
   * Answers the question, and those that follow it as long as nothing changes and no policy asks outside this process.
   * @throws RetryableError at shutdown and when the infrastructure failed: the question is asked again
   */
  async decide(command: HookCommand, signal: AbortSignal): Promise<HookReply> {
    const { commandId, subject, following = [] } = command;
    const asked = subject.seam === 'post-tool' ? { asked: subject.result } : {};
    const first = await this.answer(command, { ...command, pending: [] }, signal).catch((error: unknown) => {
      if (signal.aborted) throw new RetryableError('stopped before the policies had decided', { cause: error });
      throw error;
    });
    const reply: HookReply = { commandId, kind: 'hook', ...asked, ...first };
    if (following.length === 0) return reply;
    const late = () => new RetryableError(`the policies of what follows took longer than ${this.followingMs} ms`);
    const followed = await withinLimit(signal, this.followingMs, late, (limited) =>
      this.follow(command, reply, following, limited),
    );
    return followed.length > 0 ? { ...reply, followed } : reply;
  }

  /** What cannot be answered here, or not soon, is asked again by itself: it never harms the answer before it. */
  private async follow(
    command: HookCommand,
    first: HookReply,
    following: readonly FollowingQuestion[],
    signal: AbortSignal,
  ): Promise<NonNullable<HookReply['followed']>> {
    const followed: NonNullable<HookReply['followed']> = [];
    const pending: FollowingQuestion['pending'] = [];
    let last: Answer = first;
    let left = MAX_TOGETHER - jsonBytes(first);
    for (const { digest, ...question } of following) {
      if (left < 0 || last.result.status !== 'decided' || !changesNothing(last.result.decision)) break;
      if (asksOutside(this.sets.policies(this.store.sets()), question.subject, command.tenant)) break;
      pending.push(...question.pending);
      const answer = await this.answer(command, { ...question, pending }, signal).catch(() => undefined);
      if (!answer) break;
      left -= jsonBytes(answer);
      if (left < 0) break;
      followed.push({ commandId: question.commandId, digest, ...answer });
      last = answer;
    }
    return followed;
  }

  private async answer(command: HookCommand, question: Question, signal: AbortSignal): Promise<Answer> {
    const { tenant } = command;
    const { subject } = question;
    const stored = this.store.sets();
    const policyVersion = policyVersionFor(stored, { tenant, agent: subject.agent });
    const evaluation = await evaluate(this.sets.policies(stored), subject, this.contextOf(command, question, signal));
    return { seam: subject.seam, policyVersion, ...evaluation };
  }

  private contextOf(command: HookCommand, question: Question, signal: AbortSignal): SeamContext {
    const { tenant, session } = command;
    const { commandId, turn, step, pending } = question;
    let messages: ReturnType<SeamContext['messages']> | undefined;
    return {
      ...{ tenant, session, turn, step, commandId, signal },
      readBlob: (blob) => this.readBlob(tenant, session, blob),
      // Read once, for the first policy that wants them.
      messages: () => (messages ??= this.conversation(command, pending)),
    };
  }

  /** Whole, as the model is about to see it: the log only refers to what is large. */
  private async conversation(
    { tenant, session, upTo }: HookCommand,
    pending: FollowingQuestion['pending'],
  ): Promise<DerivedMessage[]> {
    const stored = await this.sessions.read(tenant, session, upTo);
    const events = [...stored.slice(0, upTo + 1), ...pending];
    const whole = await restoreContents(this.contents, { tenant, session }, events).catch((error: unknown) => {
      throw new RetryableError('a content of the conversation could not be read', { cause: error });
    });
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

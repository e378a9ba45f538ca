import { setTimeout as sleep } from 'node:timers/promises';
import { Injectable } from '@nestjs/common';
import type { Outcome } from '@jetloop/contracts';
import { DamagedSessionError, RetryableError, TerminalError, type InboxSettlement } from '@jetloop/messaging';
import {
  BrokenLogError,
  childRefused,
  commandIdOf,
  decide,
  endChild,
  firstEventOf,
  outstanding,
  withFollowingQuestions,
  workKey,
  type Decision,
  type DecisionContext,
  type SessionState,
  type Work,
} from '@jetloop/session';
import { CommandResolver, type Refusal, type ResolvedCommand } from '../inbox/command.resolver.js';
import { InboxGauge } from '../inbox/inbox.gauge.js';
import { OutcomePublisher } from '../inbox/outcome.publisher.js';
import type { ParsedInbox } from '../inbox/parse-inbox.js';
import { SeamRegistry } from '../policy/seam.registry.js';
import { AskedContents } from './asked-contents.js';
import { ParentReader } from './parent.reader.js';
import { KeyedQueue } from './keyed-queue.js';
import { SessionRepository, type LoadedSession } from './session.repository.js';
import { WorkSender } from './work.sender.js';

const MAX_TRIES = 50;
const MAX_JITTER_MS = 20;
/** Milliseconds until events of an external agent come again that came before their turn. */
const GAP_MS = 25;

/** A command with where it goes and who sent it. */
type Envelope = ResolvedCommand & { readonly tenant: string; readonly session: string };

/** Advances sessions (spec 1.3): load, decide, commit under the session's check, send, answer. */
@Injectable()
export class CommandHandler {
  private readonly queue = new KeyedQueue();

  constructor(
    private readonly resolver: CommandResolver,
    private readonly sessions: SessionRepository,
    private readonly parents: ParentReader,
    private readonly seams: SeamRegistry,
    private readonly work: WorkSender,
    private readonly asked: AskedContents,
    private readonly outcomes: OutcomePublisher,
    private readonly gauge: InboxGauge,
  ) {}

  async handle(inbox: ParsedInbox, traceparent?: string): Promise<InboxSettlement> {
    const { tenant, session } = inbox;
    const resolved = await this.resolver.resolve(inbox);
    if (resolved.kind === 'refused') return this.refused(tenant, session, resolved);
    const retryAfterMs = addsWork(resolved) ? await this.gauge.fullFor(tenant, session) : undefined;
    if (retryAfterMs !== undefined) {
      const message = 'Too many commands wait already: try again later.';
      return this.answered(tenant, session, commandIdOf(resolved.command), {
        status: 'refused',
        code: 'full',
        message,
        retryAfterMs,
      });
    }
    const envelope = { ...resolved, tenant, session, ...(traceparent === undefined ? {} : { traceparent }) };
    return this.queue
      .run(`${tenant}.${session}`, async () => {
        const settlement = await this.advance(envelope);
        await this.release(envelope, settlement);
        return settlement;
      })
      .catch((error: unknown) => {
        // Nothing is decided on a log that cannot be right; who asked is told, and what came is kept in DEAD.
        if (error instanceof DamagedSessionError || error instanceof BrokenLogError)
          throw new TerminalError('damaged', error.message);
        throw error;
      });
  }

  /** Whether a message is delivered again and again only because others are to come before it (spec 6.5). */
  async onlyWaits(inbox: ParsedInbox): Promise<boolean> {
    if (inbox.from !== 'worker' || !inbox.reply.kind.startsWith('harness.')) return false;
    const { tenant, session, reply } = inbox;
    const { state } = await this.sessions.reload(tenant, session);
    const context = this.contextOf(tenant, state?.agent.name ?? '', new Date().toISOString());
    const command = { from: 'worker' as const, commandId: reply.commandId, reply };
    return decide(state, command, { tenant, session, actor: reply.kind }, context).kind === 'gap';
  }

  private async advance(envelope: Envelope): Promise<InboxSettlement> {
    const { tenant, session, command } = envelope;
    let loaded = await this.sessions.get(tenant, session);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const decidedAt = loaded.state && firstEventOf(loaded.state, commandIdOf(command));
      if (loaded.state && decidedAt !== undefined) return this.heal(envelope, loaded.state, decidedAt);
      const now = new Date().toISOString();
      const context = this.contextOf(tenant, agentOf(loaded, envelope), now);
      const decision = decide(loaded.state, command, envelope, context);
      if (decision.kind !== 'commit') {
        if (await this.sessions.isCurrent(tenant, session, loaded))
          return this.settle(envelope, loaded.state, decision, now);
        loaded = await this.sessions.reload(tenant, session);
        continue;
      }
      const committed = await this.sessions.commit(loaded, decision.commit);
      if (committed !== 'lost') {
        await this.send(envelope, committed.state, newlyOutstanding(loaded.state, committed.state, now), now);
        if (!loaded.state && committed.state?.parent) await this.endOrphan(tenant, session, committed.state.parent);
        return this.accepted(envelope, decision.outcome);
      }
      await sleep(Math.random() * MAX_JITTER_MS);
      loaded = await this.sessions.reload(tenant, session);
    }
    throw new RetryableError(`session ${session}: the commit lost ${MAX_TRIES} times`);
  }

  /** The question about a result has its answer, or nobody awaits the result any more: what it alone referred to goes. */
  private async release({ tenant, session, command }: Envelope, { dead }: InboxSettlement): Promise<void> {
    if (command.from !== 'worker') return;
    const { reply } = command;
    const answered = reply.kind === 'hook' && reply.result.status !== 'deferred' ? reply.asked : undefined;
    const late = dead && reply.kind === 'tool' && reply.result.status === 'result' ? reply.result : undefined;
    const stateOf = async () => (await this.sessions.get(tenant, session)).state;
    await this.asked.release(tenant, session, answered ?? late, stateOf);
  }

  /** A child whose parent ended its turn meanwhile: the cancel was sent before there was anything to cancel. */
  private async endOrphan(tenant: string, session: string, parent: { readonly session: string }): Promise<void> {
    if (await this.parents.isWanted(tenant, session, parent)) return;
    await this.work.send(tenant, session, [endChild(session, 'loop-orchestrator')]);
  }

  /** A redelivery of what was decided already: what is still outstanding is sent again, and the caller gets the same answer. */
  private async heal(envelope: Envelope, state: SessionState, sequence: number): Promise<InboxSettlement> {
    const { tenant, command } = envelope;
    const now = new Date().toISOString();
    await this.send(envelope, state, outstanding(state, now), now);
    if (command.from !== 'caller') return { confirm: false };
    // A message may have come again with other content.
    const again =
      'messageId' in command.command
        ? decide(state, command, envelope, this.contextOf(tenant, state.agent.name, now))
        : undefined;
    return this.accepted(envelope, again?.kind === 'answered' ? again.outcome : { status: 'accepted', sequence });
  }

  /** Sends work; a question of a seam takes along those that come next if its answer changes nothing. */
  private async send(
    { tenant, session }: Envelope,
    state: SessionState | undefined,
    work: readonly Work[],
    now: string,
    at?: string,
  ): Promise<void> {
    const ahead = (one: Work): Work =>
      one.kind === 'hook' && state
        ? withFollowingQuestions(one, state, this.contextOf(tenant, state.agent.name, now))
        : one;
    await this.work.send(tenant, session, work.map(ahead), at);
  }

  private contextOf(tenant: string, agent: string, now: string): DecisionContext {
    return { now, ...this.seams.of(tenant, agent) };
  }

  private async settle(
    envelope: Envelope,
    state: SessionState | undefined,
    decision: Exclude<Decision, { kind: 'commit' }>,
    now: string,
  ): Promise<InboxSettlement> {
    const { tenant, session, command } = envelope;
    switch (decision.kind) {
      case 'answered':
        return this.answered(tenant, session, commandIdOf(command), decision.outcome);
      case 'due': {
        const due = state ? outstanding(state, now).filter((work) => workKey(work) === decision.commandId) : [];
        await this.send(envelope, state, due, now);
        return { confirm: false };
      }
      case 'asks':
        await this.send(envelope, state, [decision.work], now, decision.at);
        return { confirm: false };
      case 'gap': {
        const problem = `events before these are still to come, from ${decision.next} on`;
        throw new RetryableError(`session ${session}: ${problem}`, { delayMs: GAP_MS });
      }
      case 'late':
        return {
          confirm: false,
          dead: { class: 'late', code: 'late', reason: 'nothing in the session awaits this reply any more' },
        };
    }
  }

  private async accepted(envelope: Envelope, outcome: Outcome | undefined): Promise<InboxSettlement> {
    if (outcome) await this.outcomes.publish(envelope.tenant, envelope.session, commandIdOf(envelope.command), outcome);
    return { confirm: false };
  }

  /** Whose call asked for a session that will not be is told so. */
  private async refused(tenant: string, session: string, refusal: Refusal): Promise<InboxSettlement> {
    const { commandId, outcome, parent } = refusal;
    if (parent) {
      const reply = childRefused(session, parent.callId, outcome.message);
      await this.work.send(tenant, session, [{ kind: 'report', session: parent.session, reply }]);
    }
    return this.answered(tenant, session, commandId, outcome);
  }

  /** A refusal or a no-op leaves no commit: it is acknowledged with confirmation before it is answered. */
  private answered(tenant: string, session: string, commandId: string, outcome: Outcome): InboxSettlement {
    return {
      confirm: true,
      answer: () => this.outcomes.publish(tenant, session, commandId, outcome),
    };
  }
}

/** Commands that end something are always taken. */
function addsWork({ command }: ResolvedCommand): boolean {
  return command.from === 'caller' && ['create', 'fork', 'prompt', 'steer', 'inject'].includes(command.command.kind);
}

function newlyOutstanding(before: SessionState | undefined, after: SessionState | undefined, now: string): Work[] {
  if (!after) return [];
  const known = new Set(before ? outstanding(before, now).map(workKey) : []);
  return outstanding(after, now).filter((work) => !known.has(workKey(work)));
}

function agentOf(loaded: LoadedSession, { command }: ResolvedCommand): string {
  if (loaded.state) return loaded.state.agent.name;
  if (command.from !== 'caller') return '';
  const { command: first } = command;
  return first.kind === 'create' || first.kind === 'fork' ? first.agent.name : '';
}

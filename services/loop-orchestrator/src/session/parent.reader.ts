import { Injectable } from '@nestjs/common';
import type { CallerCommand, DerivedMessage, RecordedEvent, UnknownEvent } from '@jetloop/contracts';
import { BlobStore, Journal } from '@jetloop/messaging';
import { deriveMessages, openCallOf, type ResolvedCreate, type ResolvedFork } from '@jetloop/session';
import { ResolveError } from '../agent/agent.resolver.js';
import { SessionRepository } from './session.repository.js';

/** What a session takes from another one: a fork its history, a child its limits. */
@Injectable()
export class ParentReader {
  constructor(
    private readonly journal: Journal,
    private readonly sessions: SessionRepository,
    private readonly blobs: BlobStore,
  ) {}

  /** A fork begins with the conversation up to an event; calls that were open there are closed. @throws ResolveError */
  async fork(
    tenant: string,
    session: string,
    command: Extract<CallerCommand, { kind: 'fork' }>,
  ): Promise<ResolvedFork> {
    const { from } = command;
    const events = (await this.journal.load(tenant, from.session, 0)).flatMap(({ commit }) => commit.events);
    const [first] = events;
    if (!first) throw new ResolveError('not_found', `There is no session ${from.session} to fork from.`);
    const last = events.length - 1;
    if (from.sequence > last) {
      const message = `The session ${from.session} has events 0 to ${last}: expected one of them, got ${from.sequence}.`;
      throw new ResolveError('invalid', message);
    }
    const { agent, workspace } = createdBy(first);
    const history = deriveMessages(events.slice(0, from.sequence + 1));
    await this.copyBlobs(tenant, from.session, session, history);
    return { ...command, agent, workspace, history };
  }

  /**
   * A child runs within what its parent's call holds for it: its budgets, and readonly where the parent is.
   * @throws ResolveError when the call that asked for it is not open any more
   */
  async child(
    tenant: string,
    session: string,
    command: ResolvedCreate,
    parent: { readonly session: string },
  ): Promise<ResolvedCreate> {
    if ((await this.sessions.get(tenant, session)).state) return command;
    const { state } = await this.sessions.reload(tenant, parent.session);
    const child = state && openCallOf(state, session);
    if (!state || !child || state.turn?.cancelling || !command.prompt)
      throw new ResolveError('invalid', `No open call of session ${parent.session} asks for this session.`);
    const { agent } = command;
    const reserved = child.call.decided?.reserved ?? {};
    const budgets = {
      ...lowest('tokens', agent.budgets.tokens, reserved.tokens),
      ...lowest('cost', agent.budgets.cost, reserved.cost),
    };
    return { ...command, agent: { ...agent, budgets, readonly: agent.readonly || state.agent.readonly } };
  }

  /** Whether the call that a child was created for is still open. It may have ended while the child was being created. */
  async isWanted(tenant: string, session: string, parent: { readonly session: string }): Promise<boolean> {
    const { state } = await this.sessions.reload(tenant, parent.session);
    return state !== undefined && !state.turn?.cancelling && openCallOf(state, session) !== undefined;
  }

  private async copyBlobs(tenant: string, from: string, to: string, history: readonly DerivedMessage[]): Promise<void> {
    for (const block of history.flatMap(({ content }) => content)) {
      const blob = block.type === 'blob' || block.type === 'resource' ? block.blob : undefined;
      if (blob) await this.blobs.put(tenant, to, await this.blobs.get(tenant, from, blob.digest), blob.mediaType);
    }
  }
}

function createdBy(event: RecordedEvent | UnknownEvent) {
  if (event.type !== 'session.created')
    throw new ResolveError('unavailable', 'The log of the session does not begin with its creation.');
  return (event as Extract<RecordedEvent, { type: 'session.created' }>).data;
}

function lowest<K extends string>(key: K, ...limits: (number | undefined)[]): Partial<Record<K, number>> {
  const known = limits.filter((limit) => limit !== undefined);
  const found: Partial<Record<K, number>> = {};
  if (known.length > 0) found[key] = Math.min(...known);
  return found;
}

import { randomUUID } from 'node:crypto';
import type { AgentSpec, CallerCommandInput, ContentBlock } from '@jetloop/contracts';
import { BlobStore, Bus, ClaimCheck, Journal } from '@jetloop/messaging';
import { findAgent } from './agents/find-agent.js';
import { checkContent } from './command/check-content.js';
import { outputOf, reachOf } from './command/command-parts.js';
import { CommandSender, type SessionAddress } from './command/command-sender.js';
import { token } from './command/token.js';
import { readEvents } from './events/read-events.js';
import type { SessionEntry } from './events/session-entry.js';
import { TurnOfMessage, type TurnOutcome } from './events/turn-of-message.js';
import { listen, type LiveValues, type StopListening } from './live/listen.js';
import type {
  Accepted,
  AcceptedMessage,
  CancelOptions,
  ClientOptions,
  ConnectOptions,
  CreateOptions,
  DecideOptions,
  EventsOptions,
  MessageOptions,
  PromptContent,
  PromptOptions,
  TurnOptions,
} from './options.js';
import { lastEvent } from './sessions/last-event.js';
import { listSessions, type SessionSummary } from './sessions/list-sessions.js';
import { SessionPages, type SessionPage, type SessionPageOptions } from './sessions/session-pages.js';

/**
 * Drives the sessions of one tenant.
 *
 * @example
 * const client = await JetloopClient.connect({ natsUrl, tenant: 'acme', actor: 'nightly-job' });
 * const { session, sequence, messageId } = await client.create({ agent: { name: 'coder' }, prompt: 'Mend the tests.' });
 * const { reason } = await client.turnOf(session, messageId, { from: sequence });
 * console.log(reason.kind); // completed
 * await client.close();
 */
export class JetloopClient {
  private readonly sender: CommandSender;
  private readonly journal: Journal;
  private readonly contents: ClaimCheck;
  private readonly pages: SessionPages;

  private constructor(
    private readonly bus: Bus,
    private readonly options: ClientOptions,
  ) {
    this.sender = new CommandSender(bus);
    this.journal = new Journal(bus);
    this.contents = new ClaimCheck(new BlobStore(bus));
    this.pages = new SessionPages(bus, options.tenant);
  }

  /**
   * Connects; afterwards the connection mends itself.
   * @throws CommandRefusedError `invalid` for a tenant that is no token, ServerUnreachableError, UnsupportedServerError
   */
  static async connect({ natsUrl, tenant, actor, timeoutMs }: ConnectOptions): Promise<JetloopClient> {
    token('tenant', tenant);
    const bus = await Bus.connect({
      url: natsUrl,
      name: `jetloop-client ${actor}`,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    });
    return new JetloopClient(bus, { tenant, actor });
  }

  /**
   * Creates a session, with its first prompt if there is one.
   * @throws CommandRefusedError `invalid`, `too_large`, `not_found` (no such agent), `conflict` (the session exists), `full`, `unavailable`
   * @example
   * await client.create({ agent: { spec: { name: 'helper', model: { chain: ['default'] } } }, prompt: 'Hello' });
   */
  create(options: CreateOptions & { readonly prompt: PromptContent }): Promise<AcceptedMessage>;
  create(options: CreateOptions): Promise<Accepted>;
  async create({ session = randomUUID(), agent, workspace, labels, prompt, output }: CreateOptions): Promise<Accepted> {
    const messageId = prompt === undefined ? undefined : randomUUID();
    const sequence = await this.send(session, {
      ...this.envelope(),
      kind: 'create',
      agent,
      ...(workspace === undefined ? {} : { workspace }),
      ...(labels === undefined ? {} : { labels }),
      ...(prompt === undefined || messageId === undefined
        ? {}
        : { prompt: { messageId, content: checkContent(prompt), ...outputOf(output) } }),
    });
    return { session, sequence: sequence ?? 0, ...(messageId === undefined ? {} : { messageId }) };
  }

  /**
   * Sends a prompt to a session. Resolves once it is durably accepted; its turn comes later (`turnOf`).
   * @throws CommandRefusedError `invalid`, `too_large`, `not_found`, `busy` (whenBusy reject), `closed`, `conflict` (the id with other
   * content), `full`, `unavailable`
   * @example
   * const { messageId, sequence } = await client.prompt(session, 'And now the docs.', { whenBusy: 'interrupt' });
   * @example
   * await client.prompt(session, 'How many tests fail?', { output: { schema: { type: 'object', required: ['failing'] } } });
   */
  async prompt(session: string, content: PromptContent, options: PromptOptions = {}): Promise<AcceptedMessage> {
    const { messageId = randomUUID(), whenBusy = 'queue', output } = options;
    token('messageId', messageId);
    const command = {
      ...this.envelope(),
      kind: 'prompt',
      messageId,
      content: checkContent(content),
      whenBusy,
      ...outputOf(output),
    } as const;
    return { session, messageId, sequence: (await this.send(session, command)) ?? 0 };
  }

  /**
   * Cancels the open turn and what is queued, as of now; on an idle session it does nothing.
   * @returns the sequence of the event that accepted it; null when there was nothing to cancel
   * @throws CommandRefusedError `invalid`, `not_found`, `closed`, `full`, `unavailable`
   * @example
   * await client.cancel(session, { reason: 'no longer needed' });
   */
  cancel(session: string, options: CancelOptions = {}): Promise<number | null> {
    const { reason = 'cancelled' } = options;
    return this.send(session, { ...this.envelope(), kind: 'cancel', reason, ...reachOf(options) });
  }

  /**
   * Says something to the open turn: the model reads it before its next step. Without an open turn it begins one, as a prompt does.
   * @throws CommandRefusedError `invalid`, `too_large`, `not_found`, `closed`, `conflict` (the id with other content), `full`, `unavailable`
   * @example
   * await client.steer(session, 'Leave the changelog alone.');
   */
  steer(session: string, content: PromptContent, options: MessageOptions = {}): Promise<AcceptedMessage> {
    return this.message('steer', session, content, options);
  }

  /**
   * Adds context that a program knows and no person said: the model reads it before its next step. Without an open turn it
   * begins one.
   * @throws CommandRefusedError `invalid`, `too_large`, `not_found`, `closed`, `conflict` (the id with other content), `full`, `unavailable`
   * @example
   * await client.inject(session, 'The build of commit 3fa2 has failed.', { messageId: 'build-3fa2' });
   */
  inject(session: string, content: PromptContent, options: MessageOptions = {}): Promise<AcceptedMessage> {
    return this.message('inject', session, content, options);
  }

  /**
   * Closes a session for good: ends the open turn, discards what is queued, and nothing is accepted any more.
   * @returns the sequence of the event that accepted it
   * @throws CommandRefusedError `invalid`, `not_found`, `closed` (it is already), `full`, `unavailable`
   * @example
   * await client.closeSession(session, { reason: 'the ticket is done' });
   */
  closeSession(session: string, { reason = 'closed' }: { readonly reason?: string } = {}): Promise<number | null> {
    return this.send(session, { ...this.envelope(), kind: 'close', reason });
  }

  /**
   * Begins a new session with the conversation of another one, up to one of its events. The other one stays as it is, closed or not;
   * calls that were open there have an "interrupted" result here.
   * @throws CommandRefusedError `invalid` (no such event), `not_found`, `conflict` (the new session exists), `full`, `unavailable`
   * @example
   * const { session: second } = await client.fork({ session, sequence });
   */
  async fork(
    from: { readonly session: string; readonly sequence: number },
    { session = randomUUID() }: { readonly session?: string } = {},
  ): Promise<Accepted> {
    token('session', from.session);
    const sequence = await this.send(session, { ...this.envelope(), kind: 'fork', from: { ...from } });
    return { session, sequence: sequence ?? 0 };
  }

  /**
   * Says that a session is taken up again: policies of the session's start are asked, before its next turn.
   * @returns the sequence of its `session.resumed`
   * @throws CommandRefusedError `invalid`, `not_found`, `closed`, `full`, `unavailable`
   * @example
   * await client.resume(session);
   */
  resume(session: string): Promise<number | null> {
    return this.send(session, { ...this.envelope(), kind: 'resume' });
  }

  /**
   * Sets the mode of a session to one of its agent's modes.
   * @returns the sequence of its `session.mode`; null when it is in that mode already
   * @throws CommandRefusedError `invalid` (the agent has no such mode), `not_found`, `closed`, `full`, `unavailable`
   * @example
   * await client.setMode(session, 'plan');
   */
  setMode(session: string, mode: string): Promise<number | null> {
    return this.send(session, { ...this.envelope(), kind: 'set-mode', mode });
  }

  /**
   * Decides on a tool call that waits for approval. The first decision stands; to decide alike again changes nothing.
   * @returns the sequence of the event that has the decision
   * @throws CommandRefusedError `invalid`, `not_found`, `stale` (decided otherwise, expired, or the turn is over), `closed`, `full`, `unavailable`
   * @example
   * await client.decideApproval(session, approvalId, 'rejected', { note: 'Not on a Friday.' });
   */
  decideApproval(
    session: string,
    approvalId: string,
    outcome: 'approved' | 'rejected',
    { note }: DecideOptions = {},
  ): Promise<number | null> {
    const decision = { kind: 'approval.decide', approvalId, outcome, ...(note === undefined ? {} : { note }) } as const;
    return this.send(session, { ...this.envelope(), ...decision });
  }

  /**
   * The sessions of the tenant, the last active one first. It costs one small read a session.
   * @throws ApiError, where the server has no journal
   * @example
   * for (const { session, last } of await client.sessions()) console.log(session, last?.at);
   */
  sessions(): Promise<SessionSummary[]> {
    return listSessions(this.bus, this.options.tenant);
  }

  /**
   * A page of the tenant's sessions, the newest first, with where they work and how they began.
   * @throws ApiError, where the server has no journal
   * @example
   * const { sessions, next } = await client.sessionPage({ limit: 20 });
   * const more = next === undefined ? [] : (await client.sessionPage({ limit: 20, before: next })).sessions;
   * console.log(sessions.length + more.length);
   */
  sessionPage(options: SessionPageOptions = {}): Promise<SessionPage> {
    return this.pages.page(options);
  }

  /**
   * The spec that is kept under a name in AGENTS; undefined where there is none.
   * @throws CommandRefusedError `invalid` for a name that is no token
   * @example
   * const spec = await client.agent('coder');
   * console.log(spec?.description);
   */
  agent(name: string): Promise<AgentSpec | undefined> {
    return findAgent(this.bus, this.options.tenant, token('agent', name));
  }

  /**
   * A content of an event as it was said: the log holds references in place of blocks over 128 KiB.
   * @example
   * for await (const { event } of client.events(session, { follow: false }))
   *   if (event.type === 'user.message') console.log(await client.restore(session, event.data.content));
   */
  restore(session: string, content: readonly ContentBlock[]): Promise<ContentBlock[]> {
    return this.contents.restore(this.options.tenant, token('session', session), content);
  }

  /**
   * The sequence of a session's last event, by the word of the server that leads; undefined where there is no such session.
   * @throws DamagedSessionError
   * @example
   * for await (const { event } of client.events(session, { from: (await client.lastSequence(session)) ?? 0 })) {
   *   console.log(event.type); // what comes next
   *   break;
   * }
   */
  async lastSequence(session: string): Promise<number | undefined> {
    const { tenant } = this.options;
    return (await lastEvent(this.bus, tenant, token('session', session)))?.sequence;
  }

  /** Whether the session exists. */
  async exists(session: string): Promise<boolean> {
    return (await this.journal.last(this.options.tenant, token('session', session))) > 0;
  }

  /**
   * The events of a session from the journal, contiguous by sequence; goes on with new ones until the signal aborts.
   * @throws CommandRefusedError `invalid`, SessionNotFoundError
   * @example
   * for await (const { event, at } of client.events(session, { from: sequence, signal })) console.log(at, event.type);
   */
  events(session: string, { from, follow, signal }: EventsOptions = {}): AsyncIterable<SessionEntry> {
    return readEvents(this.bus, { ...this.address(session), from, follow, signal });
  }

  /**
   * Calls the listener for what happens right now: `delta`, pieces of the model's answer, or `tool`, output of a running tool.
   * Not stored and may get lost: the events have the truth. Subscribe before sending the prompt.
   * @returns a function that ends it
   * @example
   * const stop = client.live(session, ({ text }) => process.stdout.write(text ?? ''), 'delta');
   */
  live<K extends keyof LiveValues>(session: string, listener: (value: LiveValues[K]) => void, kind: K): StopListening {
    return listen(this.bus, this.address(session), listener, kind);
  }

  /**
   * Waits until the turn that took a message has ended.
   * @throws SessionNotFoundError; the signal's reason when it aborts first
   * @example
   * const { reason } = await client.turnOf(session, messageId, { from: sequence, onEvent: ({ event }) => show(event) });
   */
  async turnOf(session: string, messageId: string, { onEvent, ...options }: TurnOptions = {}): Promise<TurnOutcome> {
    const turn = new TurnOfMessage(messageId);
    for await (const entry of this.events(session, options)) {
      onEvent?.(entry);
      const outcome = turn.see(entry);
      if (outcome) return outcome;
    }
    options.signal?.throwIfAborted();
    throw new Error(`The events of session ${session} ended before the turn of message ${messageId}`);
  }

  /** Sends what is buffered, then closes the connection. Sessions go on: `closeSession` ends one. */
  close(): Promise<void> {
    return this.bus.close();
  }

  private async message(
    kind: 'steer' | 'inject',
    session: string,
    content: PromptContent,
    { messageId = randomUUID() }: MessageOptions,
  ): Promise<AcceptedMessage> {
    token('messageId', messageId);
    const command = { ...this.envelope(), kind, messageId, content: checkContent(content) } as const;
    return { session, messageId, sequence: (await this.send(session, command)) ?? 0 };
  }

  private async send(session: string, command: CallerCommandInput): Promise<number | null> {
    return this.sender.send(this.address(session), command);
  }

  private address(session: string): SessionAddress {
    return { tenant: this.options.tenant, session: token('session', session) };
  }

  private envelope(): { commandId: string; actor: string } {
    return { commandId: randomUUID(), actor: this.options.actor };
  }
}

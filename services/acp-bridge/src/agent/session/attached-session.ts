import { randomUUID } from 'node:crypto';
import { setImmediate as turnOfLoop, setTimeout as sleep } from 'node:timers/promises';
import { RequestError, type ContentBlock, type PromptResponse, type SessionModeState } from '@agentclientprotocol/sdk';
import { CommandRefusedError, SessionNotFoundError, type JetloopClient, type StopListening } from '@jetloop/client';
import { isKnownEvent, type LiveDelta, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import { DamagedSessionError, restoreEvent } from '@jetloop/messaging';
import type { Editor } from '../editor.js';
import type { FrameOutput } from '../frames/frame-output.js';
import { invalidParams, invalidRequest, turnErrorOf } from '../request-error.js';
import { fromAcpContent } from '../translate/content.js';
import { SessionTranslator } from '../translate/session-translator.js';
import type { Told } from '../translate/told.js';
import { EarlyDeltas } from './early-deltas.js';
import { modesOf } from './modes.js';
import { OpenPrompt } from './open-prompt.js';
import { Questions } from './questions.js';
import { sendCancel } from './send-cancel.js';

export interface AttachOptions {
  readonly client: JetloopClient;
  readonly editor: Editor;
  readonly output: FrameOutput;
  readonly session: string;
  /** The folder that the editor believes the session works in. */
  readonly cwd: string;
  /** Whether what the log holds already is shown. */
  readonly replays: boolean;
  /** Says on standard error what cannot be said elsewhere. */
  readonly complain: (line: string) => void;
}

/** Milliseconds before a log that could not be read is read again. */
const AGAIN_MS = 1_000;

/** A session that an editor has open: its log is followed to the editor, its prompt waits here for the turn's end. */
export class AttachedSession {
  private readonly detaching = new AbortController();
  private readonly translator: SessionTranslator;
  private readonly questions: Questions;
  private readonly early = new EarlyDeltas();
  /** Messages that the editor sent itself. */
  private readonly own = new Set<string>();
  /** Messages whose turns the editor has cancelled. */
  private readonly cancelled = new Set<string>();
  private readonly caughtUp = Promise.withResolvers<undefined>();
  private readonly waiting = new Map<number, () => void>();
  private stopLive: StopListening | undefined;
  private isShown: boolean;
  private next = 0;
  /** RFC 3339: when the last turn began, by the log. */
  private turnStartedAt: string | undefined;
  private open: OpenPrompt | undefined;

  constructor(private readonly options: AttachOptions) {
    const { client, editor, session, complain, replays } = options;
    this.isShown = replays;
    this.translator = new SessionTranslator({
      isOwn: (messageId) => this.own.has(messageId),
      isShown: () => this.isShown,
    });
    this.questions = new Questions({
      ...{ client, editor, session, complain },
      isCancelling: () => this.translator.messagesInTurn.some((messageId) => this.cancelled.has(messageId)),
    });
    this.caughtUp.promise.catch(() => undefined); // Who attaches gets it; a prompt may come meanwhile.
  }

  get isPrompting(): boolean {
    return this.open !== undefined;
  }

  get modes(): SessionModeState | undefined {
    const { origin, currentMode } = this.translator;
    return modesOf(origin?.agent.modes ?? [], currentMode);
  }

  /** Follows the session. Resolves once all has been told that its log held. @throws SessionNotFoundError, RequestError -32602 */
  async attach(): Promise<void> {
    const { client, session } = this.options;
    const last = await client.lastSequence(session);
    if (last === undefined) throw new SessionNotFoundError('', session);
    if (this.isDetached()) return this.caughtUp.promise;
    this.stopLive = client.live(
      session,
      (delta) => {
        this.delta(delta);
      },
      'delta',
    );
    void this.follow(last);
    return this.caughtUp.promise;
  }

  /**
   * Answered at the end of its turn.
   * @param accepted called once the session has it for good
   * @throws RequestError -32600 while another one is open
   */
  async prompt(content: readonly ContentBlock[], signal: AbortSignal, accepted: () => void): Promise<PromptResponse> {
    if (this.open) throw invalidRequest('A prompt of this session is open: wait for its answer, or cancel it.');
    const open = new OpenPrompt(randomUUID());
    const onAbort = () => {
      if (isCancelRequest(signal.reason)) void this.cancel();
    };
    this.open = open;
    this.own.add(open.messageId);
    signal.addEventListener('abort', onAbort);
    try {
      const blocks = fromAcpContent(content);
      await this.caughtUp.promise;
      if (!open.isCancelled) {
        open.isSent = true;
        await this.options.client
          .prompt(this.options.session, blocks, { messageId: open.messageId })
          .catch((error: unknown) => {
            // A cancel may have overtaken it: then it is refused, and answered as cancelled.
            if (!open.isCancelled) throw error;
            open.fail(new Error('refused'));
          });
      }
      accepted();
      const answer = await open.answer;
      if (answer.kind === 'failed') throw turnErrorOf(answer);
      return answer.response;
    } finally {
      signal.removeEventListener('abort', onAbort);
      open.isSettled = true;
      this.open = undefined;
    }
  }

  /** Cancels the open prompt, else the turn that is open; idle it does nothing. */
  async cancel(): Promise<void> {
    const { open } = this;
    if (open?.isCancelled) return;
    open?.cancel();
    await this.cancelMessages(open ? [open.messageId] : this.translator.messagesInTurn);
  }

  private async cancelMessages(messageIds: readonly string[]): Promise<void> {
    const { client, session, complain } = this.options;
    for (const messageId of messageIds) this.cancelled.add(messageId);
    const isInTurn = () => messageIds.some((messageId) => this.translator.messagesInTurn.includes(messageId));
    const isWaiting = () => this.open !== undefined && !this.open.isSettled && messageIds.includes(this.open.messageId);
    await sendCancel({
      ...{ client, session, messageIds, complain },
      turnStartedAt: isInTurn() ? this.turnStartedAt : undefined,
      isOver: () => this.isDetached() || !(isInTurn() || isWaiting()),
    });
  }

  /** Resolves once the editor was told the mode. @throws RequestError -32602 for a mode that the agent does not have */
  async setMode(mode: string): Promise<void> {
    await this.caughtUp.promise;
    const { client, session } = this.options;
    const known = this.translator.origin?.agent.modes.map(({ id }) => id) ?? [];
    if (!known.includes(mode))
      throw invalidParams(
        `There is no mode ${mode}: expected ${known.length > 0 ? `one of ${known.join(', ')}` : 'none'}`,
      );
    const sequence = await client.setMode(session, mode);
    if (sequence !== null) await this.told(sequence);
  }

  /** Cancels, waits for the answer of an open prompt, and detaches. */
  async close(): Promise<void> {
    const { open } = this;
    await this.cancel();
    await open?.answer.catch(() => undefined); // Whoever prompted gets it.
    await turnOfLoop(); // The prompt's answer goes before the one of close.
    this.detach();
  }

  /** Forgets the session, which goes on. */
  detach(): void {
    this.end(invalidRequest('The session was closed, or loaded again.'));
  }

  private isDetached(): boolean {
    return this.detaching.signal.aborted;
  }

  private end(error: Error): void {
    this.detaching.abort();
    this.stopLive?.();
    this.questions.stop();
    this.caughtUp.reject(error);
    this.open?.fail(error);
    for (const resolve of this.waiting.values()) resolve();
  }

  private async follow(last: number): Promise<void> {
    const { client, session, output, complain } = this.options;
    const { signal } = this.detaching;
    while (!this.isDetached()) {
      try {
        for await (const { event, at } of client.events(session, { from: this.next, signal })) {
          await output.room();
          if (this.isDetached()) return;
          // An editor is not shown what policies add: that stays as it is.
          const isShown = event.type !== 'context.message';
          await this.take(isShown ? await restoreEvent(event, (said) => client.restore(session, said)) : event, at);
          if (event.sequence === last) this.begin();
        }
      } catch (error) {
        if (isFinal(error)) {
          this.end(error);
          return;
        }
        complain(`session ${session}: the log cannot be read, trying again: ${String(error)}`);
        await sleep(AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  private async take(event: RecordedEvent | UnknownEvent, at: string): Promise<void> {
    this.next = event.sequence + 1;
    const told = this.translator.event(event);
    const { workspace } = this.translator.origin ?? {};
    const { cwd } = this.options;
    if (event.sequence === 0 && workspace !== cwd)
      throw invalidParams(`The session works in ${workspace ?? 'an unknown folder'}: expected that as cwd, got ${cwd}`);
    for (const one of told) await this.tell(one);
    if (isKnownEvent(event)) this.follows(event, at);
    this.waiting.get(event.sequence)?.();
    this.waiting.delete(event.sequence);
  }

  private follows(event: RecordedEvent, at: string): void {
    if (event.type === 'step.start') for (const delta of this.early.take(event.data)) this.delta(delta);
    if (event.type !== 'turn.start') return;
    this.turnStartedAt = at;
    // It was cancelled while it waited, and the turn was faster.
    const { open } = this;
    if (open?.isCancelled && event.data.messageIds.includes(open.messageId)) void this.cancelMessages([open.messageId]);
  }

  private async tell(told: Told): Promise<void> {
    switch (told.kind) {
      case 'update':
        if (this.isShown) this.options.editor.update(this.options.session, told.update);
        return;
      case 'asked':
        this.questions.open(told.question);
        return;
      case 'decided':
        this.questions.close(told.approvalId);
        return;
      case 'ended':
        if (!this.open || !told.messageIds.includes(this.open.messageId)) return;
        this.open.settle(told.answer);
        await turnOfLoop(); // The answer goes before whatever comes next.
    }
  }

  /** What was there has been told: what comes now is new. */
  private begin(): void {
    this.isShown = true;
    this.caughtUp.resolve(undefined);
    // Behind the answer to the request that attached: before it a client may not know the session.
    setImmediate(() => {
      if (!this.isDetached()) this.questions.start();
    });
  }

  private delta(delta: LiveDelta): void {
    const { editor, output, session } = this.options;
    if (!this.translator.isOpen(delta)) {
      // What is left out is missing later: then the log gives it.
      if (!output.isFull) this.early.keep(delta);
      return;
    }
    if (output.isFull || !this.isShown) this.translator.lose(delta);
    const update = this.translator.delta(delta);
    if (update) editor.update(session, update);
  }

  /** Resolves once the event of a sequence has been told, or the session is detached. */
  private told(sequence: number): Promise<void> {
    if (sequence < this.next || this.isDetached()) return Promise.resolve();
    return new Promise((resolve) => {
      this.waiting.set(sequence, resolve);
    });
  }
}

/** Reading it again gives the same. */
function isFinal(error: unknown): error is Error {
  return [DamagedSessionError, SessionNotFoundError, CommandRefusedError, RequestError].some(
    (kind) => error instanceof kind,
  );
}

function isCancelRequest(reason: unknown): boolean {
  return reason instanceof RequestError && reason.code === -32800;
}

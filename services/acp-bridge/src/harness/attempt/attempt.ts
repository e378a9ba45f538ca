import type {
  AcpCommand,
  ContentBlock,
  HarnessEvent,
  HarnessFinished,
  Json,
  RecordedEvent,
  UnknownEvent,
} from '@jetloop/contracts';
import { isKnownEvent } from '@jetloop/contracts';
import { isHarnessEvent, PERMISSION_ASK } from '@jetloop/session';
import type { AttemptLog } from '../log/attempt-log.js';
import type { Outbox } from '../log/outbox.js';
import { decodeLine } from '../translation/decode-line.js';
import { textField, isObject, writable, type Frame, type Received } from '../translation/frame.js';
import { finishReasonOf, stopOf, type Stop } from '../translation/stop.js';
import { AttemptRecord } from './attempt-record.js';
import type { Secrets } from '../process/secrets.js';
import type { AgentExit, AgentListener, AgentProcess } from '../process/agent-process.js';
import { bridgeLost } from './bridge-lost.js';
import { shakeHands } from './handshake.js';
import { harness, HarnessFailure, protocol, transport } from './harness-failure.js';
import { Interrupted } from './interrupted.js';
import { intervene, type Intervened, type Intervention } from './interventions.js';
import type { LiveDeltas } from './live-deltas.js';
import { Permissions } from './permissions.js';
import { toPromptContent } from './prompt-content.js';
import { refusal } from './refusal.js';
import { Requests } from './requests.js';
import { errorResponse } from './rpc.js';
import type { HarnessTimes } from './times.js';

type AnyEvent = RecordedEvent | UnknownEvent;

export interface AttemptOptions {
  readonly command: AcpCommand;
  readonly log: AttemptLog;
  readonly outbox: Outbox;
  readonly live: LiveDeltas;
  readonly secrets: Secrets;
  readonly times: HarnessTimes;
  readonly prompt: readonly ContentBlock[];
  /** Looks for all that the agent's program needs; `spawn` starts it. */
  readonly prepare: () => Promise<Place & { readonly spawn: (listener: AgentListener) => Promise<AgentProcess> }>;
  /** Reads the log up to what it holds now. */
  readonly readLog: () => Promise<void>;
  /** Stores frames of a replay; the reference to them. */
  readonly storeReplay: (lines: readonly Buffer[]) => Promise<Json>;
}

interface Place {
  readonly cwd: string;
  readonly mcpServers: readonly Json[];
}

/** How an attempt ended; undefined where the log says that nobody waits for it any more. */
export type AttemptEnd = Pick<HarnessFinished, 'outcome' | 'stopReason' | 'error' | 'exit' | 'stderr'> | undefined;

/** Bytes that may come before the handshake is over: an agent that says more is not read until then. */
const MAX_HELD_BYTES = 32 * 1024 * 1024;
/** Bytes that an agent may tell again of a session that it loads. */
const MAX_REPLAY_BYTES = 64 * 1024 * 1024;

/** One attempt at a harness turn: one process, one handshake, one prompt (spec 6.1). */
export class Attempt implements AgentListener {
  private readonly record: AttemptRecord;
  private readonly permissions: Permissions;
  private readonly requests = new Requests((line) => this.process?.write(line));
  private readonly interrupt = Promise.withResolvers<never>();
  private readonly stepIsOver = Promise.withResolvers<undefined>();
  private process: AgentProcess | undefined;
  /** Frames from before the handshake was recorded; while a session is loaded, what is replayed. */
  private held: { readonly frame: Frame; readonly refused: boolean }[] | undefined = [];
  private replay: Buffer[] | undefined;
  private heldBytes = 0;
  private replayBytes = 0;
  private seen: number;
  private prompted: 'not yet' | 'open' | 'answered' = 'not yet';
  private cancelTimer: NodeJS.Timeout | undefined;
  private isCancelled = false;
  private isInterrupted = false;
  private isOver = false;

  constructor(private readonly options: AttemptOptions) {
    const { command, log } = options;
    this.record = new AttemptRecord(command, log.next, options);
    this.seen = log.next;
    this.interrupt.promise.catch(() => undefined); // it may be ended from outside before anybody waits for that
    this.permissions = new Permissions({
      policy: log.agent.harness?.permissionPolicy ?? 'deny',
      where: command,
      record: (source, value, request) => this.record.keep(source, value, request),
      inLog: () => options.outbox.inLog(),
      write: (line) => {
        if (this.prompted === 'open') this.process?.write(line);
      },
    });
  }

  /** Drives the agent to the end of its turn; resolves when its process group is gone. */
  async run(): Promise<AttemptEnd> {
    const { times, live } = this.options;
    let stop: Stop | 'over';
    let kill = false;
    try {
      stop = await Promise.race([this.converse(await this.start()), this.interrupt.promise]);
    } catch (thrown) {
      ({ stop, kill } = this.stopBy(thrown));
    }
    this.isOver = true;
    clearTimeout(this.cancelTimer);
    if (this.prompted !== 'answered') this.breakOff();
    const exit = (await this.process?.end(kill ? 0 : times.terminateMs, kill ? 0 : times.killMs)) ?? null;
    live.end();
    if (stop === 'over') return undefined;
    const error = stop.error && { ...stop.error, message: this.options.secrets.text(stop.error.message) };
    return {
      ...stop,
      ...(error ? { error } : {}),
      exit: exit && { code: exit.code, signal: exit.signal },
      stderr: this.process?.stderrTail() ?? '',
    };
  }

  /** Ends the attempt without a word: the bridge stops, or the turn went on without it. */
  abandon(): void {
    this.interruptBy(new Interrupted('over', true));
  }

  /** Resolves when the log says that nobody waits for this attempt any more. */
  get over(): Promise<undefined> {
    return this.stepIsOver.promise;
  }

  /** Publishing failed for good. */
  fail(error: unknown): void {
    this.interruptBy(error);
  }

  /** What somebody wants of the running agent: frames for it, or why there are none (spec 6.4). */
  intervene(intervention: Intervention): Intervened {
    const agentSession = this.record.agentSession ?? '';
    const intervened = intervene(intervention, { agentSession, ended: this.prompted !== 'open' });
    if ('frames' in intervened) for (const frame of intervened.frames) this.process?.write(frame);
    return intervened;
  }

  /** What came into the log since the attempt began. */
  onEvents(events: readonly AnyEvent[]): void {
    const { turn, step } = this.options.command;
    for (const event of events) {
      if (!isKnownEvent(event)) continue;
      if (isHarnessEvent(event)) this.see(event);
      else if (event.type === 'approval.decided') this.permissions.decided(event.data);
      else if (event.type === 'turn.cancelling' && event.data.turn === turn) this.cancel();
      else if (event.type === 'work.deferred' || (event.type === 'step.end' && event.data.step === step))
        this.stepOver();
    }
    this.options.outbox.see(this.seen);
  }

  onLine(line: Buffer): void {
    const frame = decodeLine(line);
    if (this.requests.take(frame)) return;
    if (!this.held) this.take(frame, false);
    else if (this.replay && frame.kind === 'notification') this.holdReplay(this.replay, line);
    else this.hold(frame, line.length);
  }

  onOverflow(): void {
    const message = 'The agent wrote a frame of more than 8 MiB: nothing behind it can be read.';
    this.interruptBy(protocol('frame_too_large', message));
  }

  onExit({ code, signal }: AgentExit): void {
    const how = signal === null ? `with exit code ${code ?? 'unknown'}` : `by ${signal}`;
    const message = `The agent's process ended (${how}) before it answered.`;
    this.interruptBy(transport('child_gone', message));
  }

  onBrokenPipe(): void {
    // The end of the process, if that is why, says more; it comes within this time.
    setTimeout(() => {
      this.interruptBy(transport('broken_pipe', 'The agent does not take what is written to it.'));
    }, 500).unref();
  }

  private async start(): Promise<Place> {
    try {
      const { spawn, ...place } = await this.options.prepare();
      // Whoever cancels before there is a process wants none.
      if (this.isInterrupted) await this.interrupt.promise;
      this.process = await spawn(this);
      return place;
    } catch (error) {
      if (error instanceof HarnessFailure || error instanceof Interrupted) throw error;
      const why = error instanceof Error ? error.message : String(error);
      throw transport('spawn', `The agent could not be started: ${why}`);
    }
  }

  private async converse(place: Place): Promise<Stop> {
    const { outbox, readLog, prompt, times } = this.options;
    const timer = setTimeout(() => {
      const message = `The agent did not shake hands within ${times.handshakeMs} ms.`;
      this.interruptBy(transport('handshake_timeout', message));
    }, times.handshakeMs);
    const { agentSession, capabilities } = await this.handshake(place).finally(() => {
      clearTimeout(timer);
    });
    this.record.agentSession = agentSession;
    // Nothing is asked of the agent before the log says that it was asked: a second run never asks again.
    await outbox.inLog();
    await readLog();
    if (this.isInterrupted) throw new Interrupted('over', true);
    const content = prompt.map((block) => toPromptContent(block, capabilities));
    this.prompted = 'open';
    const params = { sessionId: agentSession, prompt: content };
    const answered = this.requests.ask('session/prompt', params, (frame) => this.answered(frame));
    this.release();
    return answered;
  }

  private async handshake(place: Place) {
    const { log } = this.options;
    try {
      return await shakeHands({
        ...place,
        agentSession: log.agentSession,
        continuity: log.agent.harness?.continuity ?? 'required',
        ask: async (method, params) => {
          if (method === 'session/load') this.replay = [];
          const { frame, lines } = await this.requests.ask(method, params, (answer) => {
            const told = this.replay ?? [];
            this.replay = undefined;
            return { frame: answer, lines: told };
          });
          if (lines.length === 0) return frame;
          const value = { frames: lines.length, blob: await this.options.storeReplay(lines) };
          this.record.keepHandshake('session/load/replay', value);
          return frame;
        },
        keep: (source, value) => {
          this.record.keepHandshake(source, value);
        },
      });
    } finally {
      if (!this.isOver) this.record.handshakeOver();
    }
  }

  private answered(frame: Received): Stop {
    const stop = stopOf(frame.message);
    this.prompted = 'answered';
    this.record.answered(frame, finishReasonOf(stop.outcome));
    return stop;
  }

  private holdReplay(replay: Buffer[], line: Buffer): void {
    replay.push(line);
    this.replayBytes += line.length;
    if (this.replayBytes <= MAX_REPLAY_BYTES) return;
    this.interruptBy(harness('cannot_load', 'The agent told more than 64 MiB again of the session that it loads.'));
  }

  private hold(frame: Frame, size: number): void {
    // Who waits for a refusal might not go on to shake hands.
    const refused = frame.kind === 'request' && frame.method !== PERMISSION_ASK;
    if (refused) this.refuse(frame);
    this.held?.push({ frame, refused });
    this.heldBytes += size;
    if (this.heldBytes > MAX_HELD_BYTES) this.process?.hold('handshake');
  }

  private release(): void {
    const held = this.held ?? [];
    this.held = undefined;
    this.process?.release('handshake');
    for (const { frame, refused } of held) this.take(frame, refused);
  }

  private take(frame: Frame, refused: boolean): void {
    if (frame.kind !== 'request' || this.record.isAnswered) {
      this.record.take(frame);
      return;
    }
    const params = frame.message['params'] ?? null;
    const isOurs = isObject(params) && textField(params, 'sessionId') === this.record.agentSession;
    if (frame.method === PERMISSION_ASK && isOurs && this.permissions.take(frame)) return;
    const { method } = frame;
    this.record.keep(`refused/${method}`, { method, params: writable(params, frame), ...refusal(frame) }, frame);
    if (!refused) this.refuse(frame);
  }

  private refuse(frame: Extract<Frame, { kind: 'request' }>): void {
    const { code, reason } = refusal(frame);
    this.process?.write(errorResponse(frame.idText, code, reason));
  }

  private cancel(): void {
    if (this.isCancelled) return;
    this.isCancelled = true;
    const aborted = new Interrupted({ outcome: 'aborted' }, true);
    if (this.prompted === 'not yet') this.interruptBy(aborted);
    if (this.prompted !== 'open') return;
    this.intervene({ kind: 'cancel' });
    this.permissions.cancel();
    this.cancelTimer = setTimeout(() => {
      this.interruptBy(aborted);
    }, this.options.times.cancelMs);
  }

  /** An event of this attempt is in the log. One that another run put there means that this run is one too many. */
  private see(event: HarnessEvent): void {
    this.seen++;
    const { agentSession } = this.record;
    if (event.type !== 'harness.raw' || event.data.source !== 'session/new' || agentSession === undefined) return;
    const result = isObject(event.data.value) ? event.data.value['result'] : undefined;
    if (isObject(result) && result['sessionId'] !== agentSession) this.interruptBy(bridgeLost());
  }

  private stepOver(): void {
    this.stepIsOver.resolve(undefined);
    this.interruptBy(new Interrupted('over', true));
  }

  private interruptBy(why: unknown): void {
    this.isInterrupted = true;
    this.interrupt.reject(why);
  }

  private breakOff(): void {
    this.record.handshakeOver();
    this.release();
    this.prompted = 'answered';
    this.record.breakOff();
  }

  private stopBy(thrown: unknown): { stop: Stop | 'over'; kill: boolean } {
    if (thrown instanceof Interrupted) return { stop: thrown.end, kill: thrown.kill };
    if (thrown instanceof HarnessFailure) {
      // An agent that dies of a cancel was cancelled.
      if (this.isCancelled) return { stop: { outcome: 'aborted' }, kill: false };
      return { stop: { outcome: 'error', error: thrown.error }, kill: false };
    }
    this.process?.end(0, 0).catch(() => undefined);
    throw thrown;
  }
}

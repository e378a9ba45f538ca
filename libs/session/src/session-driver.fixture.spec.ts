import {
  agentSpecSchema,
  changesNothing,
  type AgentSpecInput,
  type CallerCommand,
  type Commit,
  type FollowingQuestion,
  type HarnessEvent,
  type HarnessFinished,
  type HookReply,
  type LlmReply,
  type Outcome,
  type Seam,
  type SeamDecision,
  type Reply,
} from '@jetloop/contracts';
import { commandIdOf, decide, type Decision, type SessionCommand } from './decide/decide.js';
import { applyCommit } from './evolve/evolve.js';
import { openCalls } from './evolve/in-turn.js';
import { awaitedWork } from './work/awaited-work.js';
import { openHarness } from './harness/apply-harness.js';
import { withFollowingQuestions } from './work/following-questions.js';
import { questionDigest } from './work/question-digest.js';
import { outstanding } from './work/outstanding.js';
import { workKey, type AwaitedWork, type Work } from './work/work.js';
import { failureReply } from './answers/failure-reply.js';
import { deriveMessages } from './messages/derive-messages.js';
import { firstEventOf, type SessionState } from './state.js';

export const envelope = { tenant: 'acme', session: 's1', actor: 'ada' };

export function agent(spec: Partial<AgentSpecInput> = {}) {
  return agentSpecSchema.parse({ name: 'helper', model: { chain: ['scripted'] }, tools: [], ...spec });
}

type ModelAnswer = Partial<Extract<LlmReply['result'], { status: 'ok' }>> & {
  text?: string;
  calls?: { name: string; arguments?: string; id?: string }[];
};

/** The decision of a seam, by its place among those that follow; undefined: it is not answered. */
export type NextDecision = (seam: Seam, index: number) => SeamDecision | undefined;

/** A session without servers: commands go in, commits pile up, and what is outstanding can be answered. */
export class SessionDriver {
  readonly log: Commit[] = [];
  readonly seams = new Set<Seam>();
  policyVersion = 'v1';
  /** What hook-policy answers with, where it is not the version that the session's side knows. */
  answeredIn: string | undefined;
  /** Whether questions that follow are answered with the first one, or each by itself. */
  together = true;
  /** Ids of work that became outstanding a second time: the receivers' duplicate window would swallow it. */
  readonly resent: string[] = [];
  /** The last question that a result travelled in. */
  asked: AwaitedWork | undefined;
  /** Commands that came again, and late replies, that added events: there must be none. */
  readonly echoed: string[] = [];
  private readonly committed: { command: SessionCommand; turns: number }[] = [];
  private readonly seen = new Map<string, AwaitedWork>();
  private readonly sent = new Set<string>();
  /** What each question took along, by its id. */
  private readonly questions = new Map<string, readonly FollowingQuestion[]>();
  state: SessionState | undefined;
  private clock = Date.parse('2026-01-01T00:00:00.000Z');
  private ids = 0;

  /** Given: an agent's session that waits for prompts. */
  create(spec: Partial<AgentSpecInput> = {}): this {
    this.decide({
      from: 'caller',
      command: { kind: 'create', commandId: this.id(), actor: 'ada', agent: agent(spec), workspace: '/w/s1' },
    });
    return this;
  }

  /** Another session, which begins with what this one says up to an event. */
  fork(sequence: number): SessionDriver {
    const fork = new SessionDriver();
    fork.together = this.together;
    for (const seam of this.seams) fork.seams.add(seam);
    const events = this.log.flatMap((commit) => commit.events).slice(0, sequence + 1);
    const { agent, workspace } = this.requireState();
    const from = { session: envelope.session, sequence };
    const history = deriveMessages(events);
    const command = { kind: 'fork' as const, commandId: 'fork', actor: 'ada', from, agent, workspace, history };
    fork.decide({ from: 'caller', command });
    return fork;
  }

  get now(): string {
    return new Date(this.clock).toISOString();
  }

  later(milliseconds: number): void {
    this.clock += milliseconds;
  }

  caller(command: Exclude<CallerCommand, { kind: 'create' | 'fork' }>): Outcome | undefined {
    const decision = this.decide({ from: 'caller', command });
    return 'outcome' in decision ? decision.outcome : undefined;
  }

  prompt(text: string, more: Partial<Extract<CallerCommand, { kind: 'prompt' }>> = {}): Outcome | undefined {
    const id = this.id();
    return this.caller({
      kind: 'prompt',
      commandId: id,
      actor: 'ada',
      messageId: `m-${id}`,
      content: [{ type: 'text', text }],
      whenBusy: 'queue',
      ...more,
    });
  }

  resume(): Outcome | undefined {
    return this.caller({ kind: 'resume', commandId: this.id(), actor: 'ada' });
  }

  /** The end of a child session that is awaited. */
  childEnds(text: string, outcome = 'completed'): Decision | undefined {
    const child = this.outstanding().find((work) => work.kind === 'child' && work.command.kind === 'create');
    if (child?.kind !== 'child' || child.command.kind !== 'create') return undefined;
    return this.reply({
      commandId: child.session,
      kind: 'child',
      callId: child.command.parent?.callId ?? '',
      outcome,
      content: [{ type: 'text', text }],
      usage: { input: 7, cacheRead: 0, cacheWrite: 0, output: 3 },
      cost: 0,
    });
  }

  steer(text: string): Outcome | undefined {
    return this.message('steer', text);
  }

  inject(text: string): Outcome | undefined {
    return this.message('inject', text);
  }

  close(reason = 'done'): Outcome | undefined {
    return this.caller({ kind: 'close', commandId: this.id(), actor: 'ada', reason });
  }

  approve(approvalId: string, outcome: 'approved' | 'rejected', note?: string): Outcome | undefined {
    return this.caller({
      kind: 'approval.decide',
      commandId: this.id(),
      actor: 'ada',
      approvalId,
      outcome,
      ...(note ? { note } : {}),
    });
  }

  setMode(mode: string): Outcome | undefined {
    return this.caller({ kind: 'set-mode', commandId: this.id(), actor: 'ada', mode });
  }

  /** Ids of approvals that are open. */
  openApprovals(): string[] {
    const ofCalls = openCalls(this.requireState()).flatMap(({ approval, settled }) =>
      approval && !approval.outcome && !settled ? [approval.approvalId] : [],
    );
    return [...ofCalls, ...(openHarness(this.requireState())?.approvals.keys() ?? [])];
  }

  cancel(reason = 'cancelled'): Outcome | undefined {
    return this.caller({ kind: 'cancel', commandId: this.id(), actor: 'ada', reason });
  }

  outstanding(): Work[] {
    return this.state ? outstanding(this.state, this.now) : [];
  }

  awaited(): AwaitedWork[] {
    return this.state ? awaitedWork(this.state) : [];
  }

  /** The awaited work for `what`, or the question about a result that is in no event yet. */
  work(what: string): AwaitedWork {
    const found = [...this.awaited(), ...(this.asked ? [this.asked] : [])].find((work) => work.command.what === what);
    if (!found) throw new Error(`${what} is not awaited, but ${this.outstandingNames().join(', ') || 'nothing'}`);
    return found;
  }

  outstandingNames(): string[] {
    return this.outstanding().map((work) =>
      work.kind === 'timer'
        ? work.name
        : work.kind === 'child'
          ? `${work.kind} ${work.command.kind}`
          : 'command' in work
            ? work.command.what
            : work.kind,
    );
  }

  modelSays({ text, calls = [], ...more }: ModelAnswer, what = 'llm'): Decision {
    const { command } = this.work(what);
    const toolCalls = calls.map((call, n) => ({
      type: 'tool-call' as const,
      id: call.id ?? `${command.turn}-${command.step}-${n}`,
      name: call.name,
      arguments: call.arguments ?? '{}',
    }));
    const result: LlmReply['result'] = {
      status: 'ok',
      content: [...(text === undefined ? [] : [{ type: 'text' as const, text }]), ...toolCalls],
      finishReason: toolCalls.length > 0 ? 'tool-calls' : 'stop',
      model: { target: 'scripted', provider: 'scripted', model: 'scripted' },
      usage: { input: 10, cacheRead: 0, cacheWrite: 0, output: 5 },
      cost: null,
      attempts: [],
      ...more,
    };
    return this.reply({ commandId: command.commandId, kind: 'llm', result });
  }

  modelFails(code: 'server_error' | 'aborted' | 'context_overflow', message: string, what = 'llm'): Decision {
    const { command } = this.work(what);
    const error = { code, message, retryable: false };
    return this.reply({
      commandId: command.commandId,
      kind: 'llm',
      result: { status: 'error', error, cost: null, attempts: [] },
    });
  }

  toolsAre(...names: string[]): Decision {
    const tools = names.map((name) => {
      const readonly = name.startsWith('read');
      return { name, readonly, idempotent: readonly, schemaHash: name };
    });
    const { commandId } = this.work('list').command;
    return this.reply({
      commandId,
      kind: 'tool',
      result: { status: 'listed', digest: names.join('+'), tools, unavailable: [] },
    });
  }

  toolReturns(n: number, text: string, isError = false): Decision {
    const { commandId } = this.work(`tool.${n}`).command;
    return this.reply({
      commandId,
      kind: 'tool',
      result: { status: 'result', content: [{ type: 'text', text }], isError, durationMs: 3 },
    });
  }

  /** The runner's tool takes something else than the one that a person approved. */
  toolChanged(n: number, schemaHash: string): Decision {
    const { commandId } = this.work(`tool.${n}`).command;
    const deferred = { until: this.now, reason: 'tool_changed', attempts: [], schemaHash };
    return this.reply({ commandId, kind: 'tool', result: { status: 'deferred', deferred } });
  }

  /** The external agent tells of more. */
  harnessTells(events: HarnessEvent[]): Decision {
    const { commandId, turn, attempt } = this.work('acp').command;
    const from = openHarness(this.requireState())?.next ?? 0;
    return this.reply({ commandId, kind: 'harness.events', turn, attempt, from, events });
  }

  /** The external agent's attempt is over. */
  harnessEnds(end: Pick<HarnessFinished, 'outcome' | 'error'>): Decision {
    const { commandId, turn, attempt } = this.work('acp').command;
    const from = openHarness(this.requireState())?.next ?? 0;
    const gone = { exit: { code: 0, signal: null }, stderr: '' };
    return this.reply({ commandId, kind: 'harness.finished', turn, attempt, from, ...gone, ...end });
  }

  /** `next`: what is decided at the seams that the question takes along, as far as the decisions change nothing. */
  policyAnswers(
    what: string,
    decision: SeamDecision,
    hooks: HookReply['hooks'] = [],
    next: NextDecision = () => undefined,
  ): Decision {
    return this.hook(what, { status: 'decided', decision }, hooks, changesNothing(decision) ? next : () => undefined);
  }

  policyFails(what: string, message: string): Decision {
    return this.hook(what, { status: 'failed', policy: 'guard', error: { code: 'policy_failed', message } });
  }

  timer(name: string): Decision {
    return this.decide({
      from: 'timer',
      commandId: `timer.${name}.${this.now}`,
      timer: { kind: 'timer', name, dueAt: this.now },
    });
  }

  /** Every event type of the log, in order. */
  types(): string[] {
    return this.log.flatMap((commit) => commit.events.map((event) => event.type));
  }

  /** Data of all events of a type. */
  data(type: string): unknown[] {
    return this.log.flatMap((commit) =>
      commit.events.filter((event) => event.type === type).map((event) => event.data),
    );
  }

  reply(reply: Reply): Decision {
    const decision = this.decide({ from: 'worker', commandId: `${reply.commandId}:reply`, reply });
    if (decision.kind === 'asks') this.asked = decision.work;
    return decision;
  }

  /** One of the commands that were committed comes again. */
  redelivers(pick: number): void {
    const found = this.committed[pick % this.committed.length];
    if (!found || !this.state) return;
    const { command, turns } = found;
    const lately = this.state.turns - turns <= 1;
    if (lately && firstEventOf(this.state, commandIdOf(command)) === undefined)
      this.echoed.push(`${commandIdOf(command)} is forgotten`);
    // Only these make new events of themselves; they are remembered as far back as the turn before.
    const kind = command.from === 'caller' ? command.command.kind : command.from;
    if (kind !== 'cancel' && kind !== 'resume' && kind !== 'set-mode') this.expectNothingOf(command);
  }

  /** The reply to work that was awaited once, and is no more. */
  repliesLate(pick: number): void {
    const awaited = new Set(this.awaited().map(({ command }) => command.commandId));
    const over = [...this.seen.values()].filter(({ command }) => !awaited.has(command.commandId));
    const work = over[pick % Math.max(1, over.length)];
    if (!work) return;
    const reply = failureReply(work, 'expired', 'late');
    this.expectNothingOf({ from: 'worker', commandId: `${reply.commandId}:late`, reply });
  }

  decide(command: SessionCommand): Decision {
    this.later(1);
    const decision = decide(this.state, command, envelope, this.context);
    if (decision.kind === 'asks') this.asks(decision.work);
    if (decision.kind === 'commit') {
      const before = new Set(this.outstanding().map(workKey));
      this.log.push(decision.commit);
      this.state = applyCommit(this.state, decision.commit);
      this.committed.push({ command, turns: this.state.turns });
      for (const work of this.awaited()) {
        this.seen.set(work.command.commandId, work);
        this.asks(work);
      }
      for (const work of this.outstanding()) {
        if (work.kind === 'timer' || work.kind === 'abort' || before.has(workKey(work))) continue;
        if (this.sent.has(workKey(work))) this.resent.push(workKey(work));
        this.sent.add(workKey(work));
      }
    }
    return decision;
  }

  private expectNothingOf(command: SessionCommand): void {
    const { kind } = this.decide(command);
    if (kind === 'commit') this.echoed.push(JSON.stringify(command));
  }

  private message(kind: 'steer' | 'inject', text: string): Outcome | undefined {
    const id = this.id();
    return this.caller({ kind, commandId: id, actor: 'ada', messageId: `m-${id}`, content: [{ type: 'text', text }] });
  }

  private requireState(): SessionState {
    if (!this.state) throw new Error('there is no session yet');
    return this.state;
  }

  private hook(
    what: string,
    result: HookReply['result'],
    hooks: HookReply['hooks'] = [],
    next: NextDecision = () => undefined,
  ): Decision {
    const work = this.work(what);
    if (work.kind !== 'hook') throw new Error(`${what} is no hook`);
    const { commandId, subject } = work.command;
    const asked = subject.seam === 'post-tool' ? { asked: subject.result } : {};
    const answers = this.following(commandId, next);
    const followed = this.together && answers.length > 0 ? { followed: answers } : {};
    const policyVersion = this.answeredIn ?? this.policyVersion;
    const reply = {
      commandId,
      kind: 'hook' as const,
      seam: subject.seam,
      policyVersion,
      ...asked,
      hooks,
      observed: [],
      result,
    };
    const decision = this.reply({ ...reply, ...followed });
    if (!this.together && decision.kind === 'commit') this.oneByOne(answers);
    return decision;
  }

  private following(commandId: string, next: NextDecision): NonNullable<HookReply['followed']> {
    const answers: NonNullable<HookReply['followed']> = [];
    for (const { commandId: id, subject, digest } of this.questions.get(commandId) ?? []) {
      const decision = next(subject.seam, answers.length);
      if (!decision) break;
      const result = { status: 'decided' as const, decision };
      const policyVersion = this.answeredIn ?? this.policyVersion;
      const answer = { commandId: id, digest, seam: subject.seam, policyVersion, hooks: [], observed: [], result };
      answers.push(answer);
      if (!changesNothing(decision)) break;
    }
    return answers;
  }

  private oneByOne(answers: NonNullable<HookReply['followed']>): void {
    for (const answer of answers) {
      const asked = this.awaited().find(({ command }) => command.commandId === answer.commandId);
      if (asked?.kind !== 'hook' || !this.state) return;
      if (questionDigest(this.state, asked.command.subject) !== answer.digest) return;
      // At the same time as if they were answered together.
      this.later(-1);
      this.hook(asked.command.what, answer.result);
    }
  }

  /** What a question takes along is found when it is asked, whatever comes before its answer. */
  private asks(work: AwaitedWork): void {
    const { commandId } = work.command;
    if (work.kind !== 'hook' || !this.state || this.questions.has(commandId)) return;
    const { command } = withFollowingQuestions(work, this.state, this.context);
    this.questions.set(commandId, command.following ?? []);
  }

  private get context() {
    return { now: this.now, seams: this.seams, policyVersion: this.policyVersion };
  }

  private id(): string {
    return `c${(this.ids++).toString(36)}`;
  }
}

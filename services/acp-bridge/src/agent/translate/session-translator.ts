import type { SessionUpdate } from '@agentclientprotocol/sdk';
import {
  isKnownEvent,
  type AgentSpec,
  type Attempt,
  type ContentBlock,
  type EventData,
  type LiveDelta,
  type RecordedEvent,
  type UnknownEvent,
} from '@jetloop/contracts';
import { toAcpContent } from './content.js';
import { planOfHarness, planOfTodos } from './plan.js';
import { answerOf, cancelledAnswer } from './prompt-answer.js';
import { StepText, type TextPiece } from './step-text.js';
import type { Told } from './told.js';
import { toolCallId, toolCallOf, toolResultOf } from './tool-updates.js';

/** How the session was created. */
export interface Origin {
  readonly agent: AgentSpec;
  readonly workspace: string;
}

interface OpenStep {
  readonly step: number;
  readonly text: StepText;
  /** A model's step has one message: what comes live after it is late. */
  isTold: boolean;
}

interface OpenTurn {
  readonly turn: number;
  readonly messageIds: readonly string[];
  readonly calls: Map<string, EventData<'tool.call'>>;
  step: OpenStep | undefined;
  errorName: string | undefined;
}

type Said = EventData<'user.message' | 'prompt.blocked' | 'steering.message'>;

export interface TranslatorOptions {
  /** Whether a message was sent by this editor, which shows it already. */
  isOwn(messageId: string): boolean;
  /** Whether what an event comes to is shown at all. */
  isShown(): boolean;
}

/**
 * One session's events and live deltas as what an editor is told: the mapping of docs/acp.md. It holds what of the open turn
 * is needed for it, and no more.
 */
export class SessionTranslator {
  private opened: OpenTurn | undefined;
  private mode: string | undefined;
  private created: Origin | undefined;
  /** The call that each open approval is about. */
  private readonly asked = new Map<string, string>();

  constructor(private readonly options: TranslatorOptions) {}

  /** Undefined before the first event. */
  get origin(): Origin | undefined {
    return this.created;
  }

  /** The mode that was set last; the first one of the agent before. */
  get currentMode(): string | undefined {
    return this.mode ?? this.created?.agent.modes[0]?.id;
  }

  /** The messages that the open turn has taken. */
  get messagesInTurn(): readonly string[] {
    return this.opened?.messageIds ?? [];
  }

  /** Whether deltas of this step can be told apart from earlier text: its `step.start` was seen, and it has not ended. */
  isOpen({ turn, step }: Pick<LiveDelta, 'turn' | 'step'>): boolean {
    return this.opened?.turn === turn && this.opened.step?.step === step;
  }

  /** Gives what of a live delta is new. Only for a step that is open. */
  delta(delta: LiveDelta): SessionUpdate | undefined {
    const step = this.isOpen(delta) ? this.opened?.step : undefined;
    const piece = step && !step.isTold ? step.text.delta(delta) : undefined;
    return piece && chunkOf(piece);
  }

  /** A live delta that is not shown: the log gives what it held. */
  lose(delta: LiveDelta): void {
    if (this.isOpen(delta)) this.opened?.step?.text.lose(delta);
  }

  event(event: RecordedEvent | UnknownEvent): Told[] {
    if (!isKnownEvent(event)) return [];
    switch (event.type) {
      case 'session.created':
        this.created = { agent: event.data.agent, workspace: event.data.workspace };
        return [];
      case 'session.mode':
        this.mode = event.data.mode;
        return updates({ sessionUpdate: 'current_mode_update', currentModeId: event.data.mode });
      case 'turn.start': {
        const { turn, messageIds } = event.data;
        this.opened = { turn, messageIds, calls: new Map(), step: undefined, errorName: undefined };
        return [];
      }
      case 'turn.error':
        if (this.opened) this.opened.errorName = event.data.error.name;
        return [];
      case 'turn.end':
        return this.endTurn(event.data);
      case 'step.start':
        this.startStep(event.data);
        return [];
      case 'message.discarded':
        return [{ kind: 'ended', messageIds: [event.data.messageId], answer: cancelledAnswer }];
      case 'user.message':
      case 'prompt.blocked':
      case 'steering.message':
        return this.message(event.data);
      case 'assistant.message':
        return this.answer(event.data);
      case 'tool.call':
        return this.call(event.data);
      case 'tool.result':
        return this.result(event.data);
      case 'approval.requested':
        return this.ask(event.data);
      case 'approval.decided':
        return this.decided(event.data);
      case 'harness.raw': {
        const plan = event.data.source === 'session/update/plan' ? planOfHarness(event.data.value) : undefined;
        return plan ? updates({ sessionUpdate: 'plan', ...plan }) : [];
      }
      default:
        return [];
    }
  }

  private startStep({ turn, step }: EventData<'step.start'>): void {
    if (this.opened?.turn !== turn) return;
    const text = new StepText(`${turn}.${step}`, this.options.isShown() ? '' : '.resumed');
    this.opened.step = { step, text, isTold: false };
  }

  private endTurn({ turn, reason }: EventData<'turn.end'>): Told[] {
    const opened = this.opened;
    this.opened = undefined;
    if (opened?.turn !== turn) return [];
    return [{ kind: 'ended', messageIds: opened.messageIds, answer: answerOf(reason, opened.errorName) }];
  }

  /** What a person or a program said. What an external agent echoes was said before, and what policies add is not for people. */
  private message({ messageId, source, content }: Said): Told[] {
    if (source.kind !== 'user' && source.kind !== 'caller') return [];
    if (messageId !== undefined && this.options.isOwn(messageId)) return [];
    const id = messageId === undefined ? {} : { messageId };
    return chunks('user_message_chunk', content, id);
  }

  private answer({ content, attempts, step: number }: EventData<'assistant.message'>): Told[] {
    const step = this.opened?.step;
    if (step?.step !== number) return [];
    const attemptId = answering(attempts);
    const told = content.flatMap((block): Told[] => {
      if (block.type === 'text' || block.type === 'reasoning') {
        const piece = step.text.recorded(block.type, block.text, attemptId);
        return piece ? updates(chunkOf(piece)) : [];
      }
      return chunks('agent_message_chunk', [block], { messageId: step.text.messageId(attemptId) });
    });
    step.text.endMessage(attemptId);
    step.isTold = this.created?.agent.harness === undefined;
    return told;
  }

  /** An allowed call runs at once; one that waits is in progress from its approval on; a denied one never runs. */
  private call(call: EventData<'tool.call'>): Told[] {
    this.opened?.calls.set(call.callId, call);
    const told = updates({ sessionUpdate: 'tool_call', ...toolCallOf(call, this.created?.workspace ?? '/') });
    return call.decision === 'allow' ? [...told, ...inProgress(call)] : told;
  }

  private result(result: EventData<'tool.result'>): Told[] {
    const call = this.opened?.calls.get(result.callId);
    const plan = call?.name === 'todo_write' && !result.isError ? planOfTodos(call.effective) : undefined;
    return [
      ...updates({ sessionUpdate: 'tool_call_update', ...toolResultOf(result) }),
      ...(plan ? updates({ sessionUpdate: 'plan', ...plan }) : []),
    ];
  }

  private ask({ approvalId, callId, question, expiresAt }: EventData<'approval.requested'>): Told[] {
    const call = this.opened?.calls.get(callId);
    const toolCall = call ? toolCallOf(call, this.created?.workspace ?? '/') : { toolCallId: callId };
    this.asked.set(approvalId, callId);
    return [{ kind: 'asked', question: { approvalId, question, expiresAt, toolCall } }];
  }

  private decided({ approvalId, outcome }: EventData<'approval.decided'>): Told[] {
    const call = this.opened?.calls.get(this.asked.get(approvalId) ?? '');
    this.asked.delete(approvalId);
    return [{ kind: 'decided', approvalId }, ...(outcome === 'approved' && call ? inProgress(call) : [])];
  }
}

function inProgress(call: EventData<'tool.call'>): Told[] {
  return updates({ sessionUpdate: 'tool_call_update', toolCallId: toolCallId(call), status: 'in_progress' });
}

function updates(update: SessionUpdate): Told[] {
  return [{ kind: 'update', update }];
}

function chunks(
  sessionUpdate: 'user_message_chunk' | 'agent_message_chunk',
  blocks: readonly ContentBlock[],
  id: { readonly messageId?: string },
): Told[] {
  return blocks.flatMap((block) => {
    const content = toAcpContent(block);
    return content ? updates({ sessionUpdate, content, ...id }) : [];
  });
}

function chunkOf({ kind, text, messageId }: TextPiece): SessionUpdate {
  const sessionUpdate = kind === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk';
  return { sessionUpdate, content: { type: 'text', text }, messageId };
}

/** The attempt whose answer was recorded. */
function answering(attempts: readonly Attempt[]): string | undefined {
  return attempts.findLast(({ outcome }) => outcome === 'ok' || outcome === 'aborted')?.attemptId;
}

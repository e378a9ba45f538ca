import type { LlmError } from '@jetloop/contracts';
import { AttemptFailure } from '../http/attempt-failure.js';
import { errorFacts } from '../http/error-facts.js';
import { llmError } from '../http/provider-error.js';
import { CallAccumulator, type CallFragment } from '../call-accumulator.js';
import { finishPart } from '../finish.js';
import type { Part } from '../part.js';
import { chatFrameSchema, type ChatMessage } from './chat-frame.js';
import { laterUsage, usageOf, type ChatUsage } from './chat-usage.js';

export interface ChatAccumulatorOptions {
  /** Reads an error object of the provider. */
  readonly providerError: (body: unknown) => LlmError;
  /** Behind a tool round an answer without anything is the end of the turn, else it is a failure. */
  readonly mayBeEmpty: boolean;
}

/** Turns the frames of one chat answer, streamed or whole, into parts. Pure but for what it keeps. */
export class ChatAccumulator {
  private readonly calls = new CallAccumulator();
  private readonly reasons: string[] = [];
  private counted: ChatUsage | undefined;
  private served: string | undefined;
  private refused = false;
  private said = false;

  constructor(private readonly options: ChatAccumulatorOptions) {}

  /** The protocol's own end was seen: `finish_reason`. */
  get isFinished(): boolean {
    return this.reasons.length > 0;
  }

  get hasUsage(): boolean {
    return this.counted !== undefined;
  }

  /** @throws AttemptFailure */
  frame(value: unknown): Part[] {
    const isChat = typeof value === 'object' && value !== null && 'choices' in value && Array.isArray(value.choices);
    const failure = isChat && !hasError(value) ? undefined : errorFacts(value);
    if (failure) throw new AttemptFailure(this.options.providerError(value));
    const parsed = chatFrameSchema.safeParse(value);
    if (!parsed.success) {
      const where = parsed.error.issues[0]?.path.join('.') ?? '';
      throw new AttemptFailure(llmError('protocol', `a frame is no part of a chat completion (${where || 'top'})`));
    }
    const { model, choices, usage, x_groq: groq } = parsed.data;
    const parts: Part[] = [];
    if (typeof model === 'string' && model !== '' && model !== this.served) {
      this.served = model;
      parts.push({ kind: 'model', served: model });
    }
    for (const choice of choices ?? []) {
      if ((choice.index ?? 0) !== 0) continue;
      if (choice.delta) parts.push(...this.message(choice.delta, false));
      if (choice.message) parts.push(...this.message(choice.message, true));
      if (typeof choice.finish_reason === 'string' && choice.finish_reason !== '')
        this.reasons.push(choice.finish_reason);
    }
    const count = usage ?? groq?.usage;
    if (count) parts.push(...this.usage(count));
    return parts.length === 0 ? [{ kind: 'lifecycle' }] : parts;
  }

  /** The last part, at the end of the stream or body. */
  end(): Part {
    try {
      return this.finish();
    } catch (error) {
      if (error instanceof AttemptFailure) return { kind: 'error', error: error.error };
      throw error;
    }
  }

  private finish(): Part {
    if (this.isFinished) this.calls.end();
    return finishPart({
      reasons: this.reasons,
      calls: this.calls.count > 0,
      refused: this.refused && this.isFinished,
      said: this.said,
      mayBeEmpty: this.options.mayBeEmpty,
    });
  }

  private message(message: ChatMessage, isWhole: boolean): Part[] {
    const parts: Part[] = [];
    const reasoning = message.reasoning_content ?? message.reasoning;
    if (reasoning) parts.push({ kind: 'reasoning', text: reasoning });
    parts.push(...contentParts(message.content));
    if (message.refusal) parts.push({ kind: 'text', text: message.refusal });
    const inContent = Array.isArray(message.content) && message.content.some(({ refusal }) => refusal);
    if (message.refusal || inContent) this.refused = true;
    for (const [position, { index, id, function: called }] of (message.tool_calls ?? []).entries()) {
      // In a whole body each entry is a call of its own, whatever its index says.
      const at = isWhole ? position : index;
      parts.push(this.calls.add({ index: at ?? undefined, id: id ?? undefined, ...fragmentOf(called) }));
    }
    if (message.function_call) parts.push(this.calls.add({ index: -1, ...fragmentOf(message.function_call) }));
    if (parts.length > 0) this.said = true;
    return parts;
  }

  private usage(count: ChatUsage): Part[] {
    this.counted = laterUsage(this.counted, count);
    const usage = usageOf(this.counted);
    return usage ? [{ kind: 'usage', usage }] : [];
  }
}

function contentParts(content: ChatMessage['content']): Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content }];
  return (content ?? []).flatMap(({ text, thinking, refusal }): Part[] => {
    const thought = Array.isArray(thinking) ? thinking.map((piece) => piece.text ?? '').join('') : thinking;
    if (thought) return [{ kind: 'reasoning', text: thought }];
    const said = text ?? refusal;
    return said ? [{ kind: 'text', text: said }] : [];
  });
}

function fragmentOf(called: NonNullable<ChatMessage['function_call']> | null | undefined): CallFragment {
  return { name: called?.name ?? undefined, arguments: called?.arguments };
}

function hasError(value: object): boolean {
  return 'error' in value && value.error !== null && value.error !== undefined && value.error !== '';
}

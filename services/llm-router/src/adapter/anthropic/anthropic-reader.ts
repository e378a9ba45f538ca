import type { LlmError, Usage } from '@jetloop/contracts';
import { z } from 'zod';
import { AttemptFailure } from '../http/attempt-failure.js';
import { errorFacts } from '../http/error-facts.js';
import { llmError } from '../http/provider-error.js';
import type { FrameReader } from '../sdk/sdk-dialect.js';
import { blockFrames, KNOWN_DELTAS } from './anthropic-blocks.js';
import {
  blockDeltaSchema,
  blockSchema,
  blockStartSchema,
  blockStopSchema,
  messageDeltaSchema,
  messageSchema,
  messageStartSchema,
  type AnthropicUsage,
} from './anthropic-frame.js';
import { laterUsage, usageOf } from './anthropic-usage.js';

const frameSchema = z.looseObject({ type: z.string() });

/** Reads the frames of one answer of Anthropic's messages. */
export class AnthropicReader implements FrameReader {
  readonly reasons: string[] = [];
  /** Here a refusal is a stop reason of its own. */
  readonly refused = false;
  isOver = false;
  served: string | undefined;
  private counted: AnthropicUsage | undefined;
  /** Indexes of blocks that are not handed on. */
  private readonly foreign = new Set<number>();

  constructor(private readonly providerError: (body: unknown) => LlmError) {}

  get isFinished(): boolean {
    return this.reasons.length > 0;
  }

  get hasUsage(): boolean {
    return this.counted !== undefined;
  }

  get usage(): Usage | undefined {
    return usageOf(this.counted);
  }

  frame(value: unknown): readonly object[] {
    const frame = frameSchema.safeParse(value);
    if (!frame.success || frame.data.type === 'error') throw this.failureOf(value);
    switch (frame.data.type) {
      case 'message_start': {
        const { message } = parsed(messageStartSchema, value);
        this.served = message.model ?? undefined;
        if (message.usage) this.counted = laterUsage(this.counted, message.usage);
        return [{ type: 'message_start', message: { role: 'assistant', content: [], usage: { input_tokens: 0 } } }];
      }
      case 'content_block_start':
        return this.blockStart(value);
      case 'content_block_delta': {
        const { index, delta } = parsed(blockDeltaSchema, value);
        const isTaken = KNOWN_DELTAS.has(delta.type) && !this.foreign.has(index);
        return isTaken ? [{ type: 'content_block_delta', index, delta }] : [];
      }
      case 'content_block_stop': {
        const { index } = parsed(blockStopSchema, value);
        return this.foreign.has(index) ? [] : [{ type: 'content_block_stop', index }];
      }
      case 'message_delta': {
        const { delta, usage } = parsed(messageDeltaSchema, value);
        if (delta?.stop_reason) this.reasons.push(delta.stop_reason);
        if (usage) this.counted = laterUsage(this.counted, usage);
        return [];
      }
      case 'message_stop':
        this.isOver = true;
        return [];
      default:
        return []; // a ping, or a kind of event that came later than this code
    }
  }

  framesOf(whole: unknown): readonly unknown[] {
    const message = messageSchema.safeParse(whole);
    if (!message.success) throw this.failureOf(whole);
    const { model, content, stop_reason, usage } = message.data;
    return [
      { type: 'message_start', message: { model, usage } },
      ...content.flatMap((block, index) => [
        { type: 'content_block_start', index, content_block: block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason }, usage },
      { type: 'message_stop' },
    ];
  }

  private blockStart(value: unknown): object[] {
    const { index, content_block: given } = parsed(blockStartSchema, value);
    const known = blockSchema.safeParse(given);
    if (known.success) {
      this.foreign.delete(index);
      return blockFrames(index, known.data);
    }
    if (BLOCKS.has(given.type)) throw protocolFailure('a content block');
    this.foreign.add(index);
    return [];
  }

  private failureOf(value: unknown): AttemptFailure {
    return errorFacts(value) ? new AttemptFailure(this.providerError(value)) : protocolFailure('a frame');
  }
}

const BLOCKS: ReadonlySet<string> = new Set(blockSchema.options.flatMap(({ shape }) => [...shape.type.values]));

function parsed<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw protocolFailure('a frame');
}

function protocolFailure(what: string): AttemptFailure {
  return new AttemptFailure(llmError('protocol', `${what} is no part of an answer of Anthropic's messages`));
}

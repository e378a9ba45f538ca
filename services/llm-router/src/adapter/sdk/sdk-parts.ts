import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { CallAccumulator } from '../call-accumulator.js';
import { AttemptFailure } from '../http/attempt-failure.js';
import { llmError } from '../http/provider-error.js';
import type { Part } from '../part.js';
import { metadataOf, type Metadata, type ReasoningState } from './reasoning-state.js';

/** Turns the parts of an SDK's stream into ours: texts unchanged, calls put together here, state kept byte by byte. */
export class SdkParts {
  private readonly calls = new CallAccumulator();
  /** Arguments so far, by the id of a call that has begun. */
  private readonly begun = new Map<string, string>();
  private state: Metadata | undefined;
  private hasText = false;
  private isNew = false;

  constructor(private readonly name: 'anthropic' | 'google') {}

  get hasCalls(): boolean {
    return this.calls.count > 0;
  }

  /** @throws AttemptFailure */
  of(part: LanguageModelV4StreamPart): Part[] {
    switch (part.type) {
      case 'text-delta':
        return [...this.keep('text', part), { kind: 'text', text: part.delta }];
      case 'text-end':
        return this.flush('text');
      case 'reasoning-start':
        this.isNew = true;
        this.hasText = false;
        return this.keep('reasoning', part);
      case 'reasoning-delta':
        return [...this.keep('reasoning', part), ...this.reasoning(part.delta)];
      case 'reasoning-end':
        return this.flush('reasoning');
      case 'tool-input-start':
        return [this.begin(part.id, part.toolName, this.metadata(part))];
      case 'tool-input-delta':
        return [this.go(part.id, part.delta)];
      case 'tool-call':
        return this.complete(part.toolCallId, part.toolName, part.input, this.metadata(part));
      case 'error':
        throw new AttemptFailure(llmError('protocol', 'a frame is no part of an answer of this protocol'));
      default:
        return [{ kind: 'lifecycle' }];
    }
  }

  /** @throws AttemptFailure tool_call_assembly */
  end(): void {
    this.calls.end();
  }

  private metadata(part: { readonly providerMetadata?: Record<string, unknown> | undefined }): Metadata | undefined {
    return metadataOf(part.providerMetadata?.[this.name]);
  }

  /** Keeps the state of a block until its end; a second one in the same block ends the first. */
  private keep(
    on: 'text' | 'reasoning',
    part: { readonly providerMetadata?: Record<string, unknown> | undefined },
  ): Part[] {
    const metadata = this.metadata(part);
    if (!metadata || isSame(metadata, this.state)) return [];
    const before = this.state ? this.flush(on) : [];
    this.state = metadata;
    return before;
  }

  private flush(on: 'text' | 'reasoning'): Part[] {
    const { state } = this;
    const isOwn = on === 'text' || !this.hasText;
    this.state = undefined;
    this.hasText = false;
    if (!state) return [];
    return [{ kind: 'reasoning-state', value: valueOf(on, state), ...(isOwn ? { isOwn } : {}) }];
  }

  private reasoning(text: string): Part[] {
    if (text === '') return [];
    const isNew = this.isNew;
    this.isNew = false;
    this.hasText = true;
    return [{ kind: 'reasoning', text, ...(isNew ? { isNew } : {}) }];
  }

  private begin(id: string, name: string, metadata: Metadata | undefined): Part {
    if (id !== '' && this.begun.has(id)) {
      throw new AttemptFailure(llmError('tool_call_assembly', 'two calls of the answer have one id'));
    }
    this.begun.set(id, '');
    const part = this.calls.add({ id, name });
    return metadata && part.kind === 'call' ? { ...part, state: valueOf('call', metadata) } : part;
  }

  private go(id: string, text: string): Part {
    this.begun.set(id, (this.begun.get(id) ?? '') + text);
    return this.calls.add({ id, arguments: text });
  }

  /** The SDK's own account of a call: it must say what its pieces said. */
  private complete(id: string, name: string, input: string, metadata: Metadata | undefined): Part[] {
    const known = this.begun.get(id);
    if (known === undefined) return [this.begin(id, name, metadata), this.go(id, input)];
    if (known.trim() === '') return input.trim() === '' ? [] : [this.go(id, input)];
    if (known === input) return [];
    throw new AttemptFailure(llmError('tool_call_assembly', 'the arguments of a call are not those of its pieces'));
  }
}

function valueOf(on: ReasoningState['on'], metadata: Metadata) {
  return { on, metadata: { ...metadata } };
}

function isSame(one: Metadata, other: Metadata | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

import type { AnsweringModel, ContentBlock, FinishReason, LlmError, Usage } from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';
import type { Part } from './part.js';

interface Call {
  id: string;
  name: string;
  arguments: string;
}

interface EndError {
  readonly error: LlmError;
  readonly aboutReasoningState?: boolean;
}

/** What an attempt has said so far; `end` is set by its last part. */
export interface Assembled {
  readonly content: ContentBlock[];
  readonly usage: Usage | undefined;
  readonly model: AnsweringModel;
  readonly end: { readonly finish: FinishReason } | EndError | undefined;
}

/** Puts the parts of one attempt together, streamed and whole bodies alike. Blocks keep the order of their first part. */
export class Assembler {
  private readonly blocks: (ContentBlock | { type: 'call'; call: Call })[] = [];
  private readonly calls = new Map<number, Call>();
  private usage: Usage | undefined;
  private served: string | undefined;
  private end: Assembled['end'];

  constructor(private readonly target: Target) {}

  add(part: Part): void {
    switch (part.kind) {
      case 'lifecycle':
        return;
      case 'text':
      case 'reasoning':
        this.extend(part.kind, part.text);
        return;
      case 'reasoning-state': {
        const last = this.blocks.at(-1);
        const state = { dialect: this.target.dialect, model: this.target.model, value: part.value };
        if (last?.type === 'reasoning') last.state = state;
        else this.blocks.push({ type: 'reasoning', text: '', state });
        return;
      }
      case 'call':
        this.addCall(part);
        return;
      case 'usage':
        this.usage = part.usage;
        return;
      case 'model':
        this.served = part.served;
        return;
      case 'finish':
        this.end = { finish: part.reason };
        return;
      case 'error':
        this.end = {
          error: part.error,
          ...(part.aboutReasoningState === true ? { aboutReasoningState: true } : {}),
        };
    }
  }

  result(): Assembled {
    const content = this.blocks.map((block): ContentBlock =>
      block.type === 'call'
        ? {
            type: 'tool-call',
            ...block.call,
            arguments: block.call.arguments.trim() === '' ? '{}' : block.call.arguments,
          }
        : block,
    );
    const { provider, model, name } = this.target;
    const answering = { target: name, provider, model, ...(this.served === undefined ? {} : { served: this.served }) };
    return { content, usage: this.usage, model: answering, end: this.end };
  }

  private extend(type: 'text' | 'reasoning', text: string): void {
    if (text === '') return;
    const last = this.blocks.at(-1);
    if (last?.type === type) last.text += text;
    else this.blocks.push({ type, text });
  }

  private addCall({ call: index, id, name, arguments: fragment }: Extract<Part, { kind: 'call' }>): void {
    const known = this.calls.get(index);
    const call = known ?? { id: id ?? `call_${index}`, name: '', arguments: '' };
    call.arguments += fragment;
    if (name !== undefined && call.name === '') call.name = name;
    if (known) return;
    this.calls.set(index, call);
    this.blocks.push({ type: 'call', call });
  }
}

import type {
  AnsweringModel,
  ContentBlock,
  FinishReason,
  Json,
  LlmError,
  ToolCallBlock,
  Usage,
} from '@jetloop/contracts';
import type { Target } from '../catalogue/catalogue.js';
import type { Part } from './part.js';

interface Call {
  id: string;
  name: string;
  arguments: string;
  state?: ToolCallBlock['state'];
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
  /** What the provider gave as the reason of its finish. */
  readonly rawFinish?: string | undefined;
}

/** Puts the parts of one attempt together, streamed and whole bodies alike. Blocks keep the order of their first part. */
export class Assembler {
  private readonly blocks: (ContentBlock | { type: 'call'; call: Call })[] = [];
  private readonly calls = new Map<number, Call>();
  private usage: Usage | undefined;
  private served: string | undefined;
  private end: Assembled['end'];
  private rawFinish: string | undefined;

  constructor(private readonly target: Target) {}

  add(part: Part): void {
    switch (part.kind) {
      case 'lifecycle':
        return;
      case 'text':
        this.extend('text', part.text, false);
        return;
      case 'reasoning':
        this.extend('reasoning', part.text, part.isNew === true);
        return;
      case 'reasoning-state': {
        const last = this.blocks.at(-1);
        const state = this.stateOf(part.value);
        const isOpen = last?.type === 'reasoning' && last.state === undefined;
        if (isOpen && part.isOwn !== true) last.state = state;
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
        this.rawFinish = part.raw;
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
    return { content, usage: this.usage, model: answering, end: this.end, rawFinish: this.rawFinish };
  }

  private extend(type: 'text' | 'reasoning', text: string, isNew: boolean): void {
    if (text === '') return;
    const last = this.blocks.at(-1);
    // Reasoning that has its state is complete: the state is good for exactly that text.
    const isOpen = last?.type === 'reasoning' ? last.state === undefined : last?.type === 'text';
    if (last?.type === type && isOpen && !isNew) last.text += text;
    else this.blocks.push({ type, text });
  }

  private stateOf(value: Json): NonNullable<ToolCallBlock['state']> {
    return { dialect: this.target.dialect, model: this.target.model, value };
  }

  private addCall({ call: index, id, name, arguments: fragment, state }: Extract<Part, { kind: 'call' }>): void {
    const known = this.calls.get(index);
    const call = known ?? { id: id ?? `call_${index}`, name: '', arguments: '' };
    call.arguments += fragment;
    if (name !== undefined && call.name === '') call.name = name;
    if (state !== undefined) call.state = this.stateOf(state);
    if (known) return;
    this.calls.set(index, call);
    this.blocks.push({ type: 'call', call });
  }
}

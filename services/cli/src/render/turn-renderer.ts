import { isKnownEvent, textOf, type EventData, type LiveDelta, type LiveTool, type TurnEnd } from '@jetloop/contracts';
import type { SessionEntry } from '@jetloop/client';
import { describeArguments } from './describe-call.js';
import { describeEnd } from './describe-end.js';
import { clean, cut, duration, oneLine, plural, wrap } from './format.js';
import { LineWriter } from './line-writer.js';
import { StreamedText } from './streamed-text.js';
import { styleOf, type Style } from './style.js';
import type { Terminal } from './terminal.js';
import { describeTotals, totalsOf } from './turn-totals.js';

export interface TurnRendererOptions {
  /** Lines shown of a tool's result; default 6. */
  readonly resultLines?: number;
  /** Whether the prompt is shown; default true. */
  readonly showPrompt?: boolean;
}

type Call = EventData<'tool.call'>;
type Decision = EventData<'policy.decided'>;

/** Widest line that is laid out; wider terminals leave the rest free. */
const MAX_WIDTH = 100;
const WIDTH_ELSEWHERE = 80;

/**
 * Shows a turn as it happens. Events are the truth; live pieces only make it visible earlier, and only where a person
 * watches: text written to a file or a pipe cannot be taken back.
 */
export class TurnRenderer {
  private readonly out: LineWriter;
  private readonly style: Style;
  private readonly width: number;
  private readonly streamed = new StreamedText();
  private readonly calls = new Map<string, Call>();
  private readonly decisions = new Map<string, Decision>();
  private entries: SessionEntry[] = [];
  private streaming: 'text' | 'reasoning' | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly options: TurnRendererOptions = {},
  ) {
    this.out = new LineWriter(terminal);
    this.style = styleOf(terminal);
    this.width = Math.min(terminal.columns ?? WIDTH_ELSEWHERE, MAX_WIDTH);
  }

  /** A piece of the model's answer. */
  delta(delta: LiveDelta): void {
    if (!this.terminal.isTTY) return;
    if (delta.kind === 'reset') {
      if (this.streamed.reset(delta)) this.note('the answer begins again: another try took over');
      this.streaming = undefined;
    } else if (delta.kind === 'text') this.streamText(delta);
    else if (delta.kind === 'reasoning') this.streamReasoning(delta);
  }

  /** Output of a running tool: its last line, as status. */
  output({ turn, step, n, text }: LiveTool): void {
    const call = this.calls.get(keyOf({ turn, step, n }));
    const line = clean(text).trimEnd().split('\n').at(-1) ?? '';
    if (call && line !== '') this.working(`${call.name} ${this.style.symbols.dot} ${line}`);
  }

  /** The next event of the session. */
  event(entry: SessionEntry): void {
    const { event } = entry;
    if (!isKnownEvent(event)) return;
    if (event.type === 'turn.start') this.entries = [];
    this.entries.push(entry);
    switch (event.type) {
      case 'user.message':
        if (this.options.showPrompt !== false) this.prompt(textOf(event.data.content), '');
        return;
      case 'steering.message':
        this.prompt(textOf(event.data.content), 'steering');
        return;
      case 'context.message':
        this.note(`context from ${event.data.source.name ?? event.data.source.kind}`);
        return;
      case 'prompt.blocked':
        this.refusal('prompt', 'blocked', undefined, event.data.reason);
        return;
      case 'step.start':
        this.working('thinking');
        return;
      case 'assistant.message':
        this.answer(event.data);
        return;
      case 'tool.call':
        this.calls.set(keyOf(event.data), event.data);
        if (event.data.decision === 'allow')
          this.working(`${event.data.name} ${describeArguments(event.data, this.width)}`);
        return;
      case 'policy.decided':
        this.decided(event.data);
        return;
      case 'tool.result':
        this.result(event.data);
        return;
      case 'approval.requested':
        this.out.line(
          `${this.style.refused(this.style.symbols.waiting)} waiting for approval: ${oneLine(event.data.question, this.width)}`,
        );
        this.out.line(this.style.dim(`  approval ${event.data.approvalId}, until ${event.data.expiresAt}`));
        return;
      case 'work.deferred':
        this.note(`${event.data.what} rests until ${event.data.until}: ${oneLine(event.data.reason, this.width)}`);
        return;
      case 'turn.cancelling':
        this.note(`cancelling: ${event.data.reason}`);
        return;
      case 'turn.end':
        this.end(event.data.reason);
        return;
      default:
        return;
    }
  }

  private streamText(delta: LiveDelta): void {
    const piece = this.streamed.take(delta);
    if (!piece) return;
    if (piece.restart) this.note('the answer begins again: another try took over');
    if (this.streaming !== 'text' || piece.restart) this.out.gap();
    this.streaming = 'text';
    this.out.stream(clean(piece.text));
  }

  private streamReasoning({ text = '' }: LiveDelta): void {
    if (this.streaming !== 'reasoning') this.out.gap();
    this.streaming = 'reasoning';
    this.out.stream(this.style.dim(clean(text)));
  }

  private answer({ turn, step, content, finishReason }: EventData<'assistant.message'>): void {
    const { text, restart } = this.streamed.settle(turn, step, textOf(content));
    if (text !== '') {
      if (restart || this.streaming !== 'text') this.out.gap();
      this.out.stream(clean(text));
    }
    this.object(content);
    this.out.endLine();
    this.streaming = undefined;
    if (finishReason !== 'stop' && finishReason !== 'tool-calls') this.note(`the answer was cut: ${finishReason}`);
  }

  /** An answer that is an object, where its text did not stream by. */
  private object(content: EventData<'assistant.message'>['content']): void {
    const [block] = content;
    if (block?.type !== 'json' || this.streaming === 'text') return;
    this.out.gap();
    this.out.stream(clean(JSON.stringify(block.value, undefined, 2)));
  }

  private prompt(text: string, label: string): void {
    this.out.gap();
    const [first = '', ...others] = clean(text).trimEnd().split('\n');
    const head = label === '' ? first : `(${label}) ${first}`;
    this.out.line(
      `${this.style.dim(this.style.symbols.prompt)} ${this.style.name(cut(head, this.width - 2, this.style.symbols.more))}`,
    );
    this.excerpt(others.join('\n'), 4);
  }

  private decided(decision: Decision): void {
    if (decision.callId !== undefined) this.decisions.set(decision.callId, decision);
    // A blocked prompt shows by its own event.
    else if (decision.decision !== 'block')
      this.note(
        `policy ${decision.policy} at ${decision.seam}: ${decision.decision}${decision.reason === undefined ? '' : `, ${decision.reason}`}`,
      );
  }

  private result(result: EventData<'tool.result'>): void {
    const call = this.calls.get(keyOf(result));
    const decision = this.decisions.get(result.callId);
    const name = call?.name ?? 'tool';
    if (call?.decision === 'deny') {
      this.refusal(name, 'denied', call, decision?.reason ?? textOf(result.content), decision?.policy);
      return;
    }
    const { done, failed, symbols } = this.style;
    const symbol = result.isError ? failed(symbols.failed) : done(symbols.done);
    this.headline(symbol, name, call, duration(result.durationMs));
    this.excerpt(textOf(result.content), this.options.resultLines ?? 6);
  }

  private refusal(name: string, verdict: string, call: Call | undefined, reason: string, policy?: string): void {
    this.headline(this.style.refused(this.style.symbols.refused), name, call, verdict);
    const by = policy === undefined ? '' : `policy ${policy}: `;
    for (const line of wrap(clean(`${by}${reason}`), this.width - 4)) this.out.line(`    ${this.style.refused(line)}`);
  }

  /** Symbol, name and arguments to the left, duration or verdict to the right. */
  private headline(symbol: string, name: string, call: Call | undefined, right: string): void {
    if (this.streaming !== undefined || this.lastWasText()) this.out.gap();
    const room = this.width - name.length - right.length - 8;
    const about = call ? describeArguments(call, Math.max(10, room)) : '';
    const padding = ' '.repeat(Math.max(2, room + 2 - Array.from(about).length));
    this.out.line(`  ${symbol} ${this.style.name(name)}  ${about}${padding}${this.style.dim(right)}`);
    this.streaming = undefined;
  }

  private lastWasText(): boolean {
    const before = this.entries
      .slice(0, -1)
      .findLast(({ event }) => event.type !== 'tool.call' && event.type !== 'policy.decided');
    return before !== undefined && before.event.type !== 'tool.result';
  }

  private excerpt(text: string, lines: number): void {
    const all = clean(text).replace(/\n+$/, '').split('\n');
    if (all.length === 1 && all[0]?.trim() === '') return;
    const { dim, symbols } = this.style;
    for (const line of all.slice(0, lines))
      this.out.line(dim(`    ${cut(line.replaceAll('\t', '  '), this.width - 4, symbols.more)}`).trimEnd());
    if (all.length > lines) this.out.line(dim(`    ${symbols.more} ${plural(all.length - lines, 'more line')}`));
  }

  private end(reason: TurnEnd): void {
    const { done, failed, dim, symbols } = this.style;
    const isDone = reason.kind === 'completed';
    const words = clean(describeEnd(reason));
    this.out.gap();
    this.out.line(isDone ? done(`${symbols.done} ${words}`) : failed(`${symbols.failed} ${words}`));
    this.out.line(dim(`  ${describeTotals(totalsOf(this.entries)).join(` ${symbols.dot} `)}`));
  }

  private note(text: string): void {
    this.streaming = undefined;
    this.out.line(this.style.dim(`  ${this.style.symbols.note} ${clean(text)}`));
  }

  private working(text: string): void {
    this.out.setStatus(
      this.style.dim(`  ${this.style.symbols.waiting} ${oneLine(text, this.width - 5, this.style.symbols.more)}`),
    );
  }
}

function keyOf({ turn, step, n }: { turn: number; step: number; n: number }): string {
  return `${turn}.${step}.${n}`;
}

import {
  isKnownEvent,
  type ContentBlock,
  type DerivedMessage,
  type InputBlock,
  type RecordedEvent,
  type Source,
  type UnknownEvent,
} from '@jetloop/contracts';

type ToolResult = Extract<RecordedEvent, { type: 'tool.result' }>;
type Summary = Extract<RecordedEvent, { type: 'compaction.summary' }>;

/**
 * What the model sees of a log (spec 2.2). Each tool call is followed directly by exactly one result, in call order,
 * whatever the order of arrival; a call without a result gets an "interrupted" one. The same log gives the same messages,
 * byte for byte, in every process.
 */
export function deriveMessages(events: readonly (RecordedEvent | UnknownEvent)[]): DerivedMessage[] {
  const results = resultsByCall(events);
  const compacted = lastSummary(events);
  const messages: DerivedMessage[] = compacted ? [summary(compacted)] : [];
  const after = compacted?.data.replaced.to ?? -1;
  for (const event of events) {
    if (event.sequence > after && isKnownEvent(event)) messages.push(...messagesOf(event, results));
  }
  return messages;
}

/** Each compaction replaces everything before its cut, earlier summaries too: the last one counts. */
function lastSummary(events: readonly (RecordedEvent | UnknownEvent)[]): Summary | undefined {
  for (let index = events.length - 1; index >= 0; index--) {
    const event = events[index];
    if (event && isKnownEvent(event) && event.type === 'compaction.summary') return event;
  }
  return undefined;
}

function summary({ data }: Summary): DerivedMessage {
  return { role: 'user', content: tagged('context', { kind: 'system', name: 'summary' }, data.summary) };
}

/** Results that no recorded call asked for: left out of the conversation, and worth a report. */
export function orphanResults(events: readonly (RecordedEvent | UnknownEvent)[]): string[] {
  const asked = new Set<string>();
  const orphans: string[] = [];
  for (const event of events) {
    if (!isKnownEvent(event)) continue;
    if (event.type === 'assistant.message') {
      let n = 0;
      for (const block of event.data.content)
        if (block.type === 'tool-call') asked.add(key(event.data.turn, event.data.step, n++));
    }
    if (event.type === 'tool.result' && !asked.has(key(event.data.turn, event.data.step, event.data.n)))
      orphans.push(event.data.callId);
  }
  return orphans;
}

function messagesOf(event: RecordedEvent, results: ReadonlyMap<string, ToolResult>): DerivedMessage[] {
  switch (event.type) {
    case 'session.created':
      return event.data.history ?? [];
    case 'user.message':
      return event.data.source.kind === 'harness' ? [] : [{ role: 'user', content: event.data.content }];
    case 'context.message':
      return [{ role: 'user', content: tagged('context', event.data.source, event.data.content) }];
    case 'steering.message':
      return [{ role: 'user', content: tagged('steering', event.data.source, event.data.content) }];
    case 'assistant.message':
      return assistant(event, results);
    default:
      return [];
  }
}

function assistant(
  event: Extract<RecordedEvent, { type: 'assistant.message' }>,
  results: ReadonlyMap<string, ToolResult>,
): DerivedMessage[] {
  const { turn, step, content, model } = event.data;
  if (content.length === 0) return [];
  const calls = content.flatMap((block) => (block.type === 'tool-call' ? [block] : []));
  const said: DerivedMessage = {
    role: 'assistant',
    content,
    ...(model ? { model: { target: model.target, model: model.model } } : {}),
  };
  return [said, ...calls.map((call, n) => toolMessage(call.id, call.name, results.get(key(turn, step, n))))];
}

function toolMessage(callId: string, name: string, result: ToolResult | undefined): DerivedMessage {
  if (result) return { role: 'tool', callId, name, content: result.data.content, isError: result.data.isError };
  const text = 'This call was interrupted: its result is not known.';
  return { role: 'tool', callId, name, content: [{ type: 'text', text }], isError: true };
}

/** The first result of a call in the log is the one that counts. */
function resultsByCall(events: readonly (RecordedEvent | UnknownEvent)[]): Map<string, ToolResult> {
  const results = new Map<string, ToolResult>();
  for (const event of events) {
    if (!isKnownEvent(event) || event.type !== 'tool.result') continue;
    const position = key(event.data.turn, event.data.step, event.data.n);
    if (!results.has(position)) results.set(position, event);
  }
  return results;
}

function key(turn: number, step: number, n: number): string {
  return `${turn}.${step}.${n}`;
}

/** Text inside `<tag source="…">…</tag>`, one pair of tags around all blocks; a closing tag inside the text is escaped. */
function tagged(tag: 'context' | 'steering', source: Source, content: readonly InputBlock[]): ContentBlock[] {
  const label = (source.name === undefined ? source.kind : `${source.kind}:${source.name}`).replaceAll(/["<>&]/g, '_');
  const open = `<${tag} source="${label}">`;
  const close = `</${tag}>`;
  const escape = (text: string) => text.replaceAll(close, `<\\/${tag}>`);
  const blocks = content.map((block): ContentBlock =>
    block.type === 'text' ? { ...block, text: escape(block.text) } : block,
  );
  const [only] = blocks;
  if (blocks.length === 1 && only?.type === 'text') return [{ ...only, text: `${open}${only.text}${close}` }];
  return [{ type: 'text', text: open }, ...blocks, { type: 'text', text: close }];
}

import { isKnownEvent, textOf, type ContentBlock, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import { describeArguments } from './describe-call.js';
import { describeEnd } from './describe-end.js';
import { cost, count, duration } from './format.js';

/** Wide enough for every line; the timeline cuts to its own width. */
const ARGUMENT_WIDTH = 120;

/** What matters of an event, in a few words. */
export function essentials(event: RecordedEvent | UnknownEvent): string {
  return isKnownEvent(event) ? ofKnown(event) : `(version ${event.version}) ${JSON.stringify(event.data)}`;
}

function ofKnown(event: RecordedEvent): string {
  switch (event.type) {
    case 'session.created':
      return `agent ${event.data.agent.name}, ${event.data.source}, workspace ${event.data.workspace}`;
    case 'session.mode':
      return `${event.data.mode}, by ${event.data.by}`;
    case 'session.closed':
      return event.data.reason;
    case 'tools.listed':
      return event.data.tools.map(({ name }) => name).join(', ');
    case 'message.queued':
      return `${quoted(event.data.content)} (${event.data.lane}, from ${event.data.source.kind})`;
    case 'message.discarded':
      return `${event.data.messageId}: ${event.data.reason}`;
    case 'user.message':
      return quoted(event.data.content);
    case 'context.message':
    case 'steering.message':
      return `${quoted(event.data.content)} (from ${event.data.source.name ?? event.data.source.kind})`;
    case 'prompt.blocked':
      return `${quoted(event.data.content)}: ${event.data.reason}`;
    case 'assistant.message':
      return ofAnswer(event.data);
    case 'turn.start':
      return `turn ${event.data.turn}, by ${event.data.trigger.kind}`;
    case 'turn.cancelling':
      return `turn ${event.data.turn}: ${event.data.reason}, by ${event.data.by}`;
    case 'turn.error':
      return `turn ${event.data.turn}: ${event.data.error.code}, ${event.data.error.message}`;
    case 'turn.end':
      return `turn ${event.data.turn}: ${describeEnd(event.data.reason)}`;
    case 'step.start':
    case 'step.end':
      return `step ${event.data.step}`;
    case 'tool.call':
      return `${event.data.name} ${describeArguments(event.data, ARGUMENT_WIDTH)}${event.data.decision === 'allow' ? '' : ` (${event.data.decision})`}`;
    case 'tool.result':
      return `${event.data.isError ? `error ${event.data.error?.code ?? event.data.error?.name ?? ''}`.trim() : 'ok'} in ${duration(event.data.durationMs)}: ${textOf(event.data.content)}`;
    case 'policy.decided':
      return `${event.data.policy} at ${event.data.seam}${event.data.observed ? ' (observing)' : ''}: ${event.data.decision}${event.data.reason === undefined ? '' : `, ${event.data.reason}`}`;
    case 'approval.requested':
      return `${event.data.approvalId}: ${event.data.question}`;
    case 'approval.decided':
      return `${event.data.approvalId}: ${event.data.outcome}, by ${event.data.by}`;
    case 'work.deferred':
      return `${event.data.what} until ${event.data.until}: ${event.data.reason}`;
    case 'session.resumed':
      return event.data.by === undefined ? '' : `by ${event.data.by}`;
    case 'compaction.start':
      return `turn ${event.data.turn}: events ${event.data.range.from} to ${event.data.range.to}`;
    case 'compaction.summary':
      return `instead of events ${event.data.replaced.from} to ${event.data.replaced.to}: ${quoted(event.data.summary)}`;
    case 'compaction.end':
      return event.data.error
        ? `not made: ${event.data.error.code}, ${event.data.error.message}`
        : `turn ${event.data.turn}`;
    case 'hook.result':
      return `${event.data.hook} at ${event.data.seam}: ${event.data.status} in ${duration(event.data.durationMs)}`;
    case 'harness.raw':
      return `${event.data.source} ${JSON.stringify(event.data.value)}`;
  }
}

function ofAnswer({
  content,
  finishReason,
  model,
  usage,
  ...data
}: Extract<RecordedEvent, { type: 'assistant.message' }>['data']): string {
  const calls = content.flatMap((block) => (block.type === 'tool-call' ? [block.name] : []));
  const text = textOf(content);
  const used = usage
    ? [`${count(usage.input + usage.cacheRead + usage.cacheWrite)} in, ${count(usage.output)} out`]
    : [];
  const facts = [finishReason, ...(model ? [model.served ?? model.model] : []), ...used, cost(data.cost)];
  return [
    ...(text === '' ? [] : [quoted(content)]),
    ...(calls.length === 0 ? [] : [`calls ${calls.join(', ')}`]),
    `(${facts.join(', ')})`,
  ].join(' ');
}

/** Blocks that need no mark of their own: they show as text, or as their calls. */
const HIDDEN = ['text', 'tool-call', 'reasoning'];

function quoted(content: readonly ContentBlock[]): string {
  const others = content.flatMap(({ type }) => (HIDDEN.includes(type) ? [] : [`[${type}]`]));
  const text = textOf(content);
  return [...(text === '' ? [] : [JSON.stringify(shorten(text))]), ...new Set(others)].join(' ');
}

function shorten(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80).trimEnd()}…` : text;
}

import { isAbsolute, join } from 'node:path';
import type { ToolCall, ToolCallUpdate, ToolKind } from '@agentclientprotocol/sdk';
import type { EventData } from '@jetloop/contracts';
import { toAcpContent } from './content.js';

const KINDS: Readonly<Record<string, ToolKind>> = {
  read_file: 'read',
  list_dir: 'read',
  glob: 'search',
  grep: 'search',
  write_file: 'edit',
  edit_file: 'edit',
  multi_edit: 'edit',
  move: 'move',
  remove: 'delete',
  bash: 'execute',
  http_fetch: 'fetch',
  todo_write: 'think',
};

/** Arguments that say in a word what a call is about. */
const TELLING = ['path', 'command', 'pattern', 'url', 'from', 'question', 'prompt'];
const TITLE_LENGTH = 120;

type Position = Pick<EventData<'tool.call'>, 'turn' | 'step' | 'n'>;

/** A model may use one call id twice in a session; the place in the log is unique. */
export function toolCallId({ turn, step, n }: Position): string {
  return `${turn}.${step}.${n}`;
}

/** A recorded call, as an editor shows it before it runs. */
export function toolCallOf(call: EventData<'tool.call'>, workspace: string): ToolCall {
  const { name, effective, arguments: raw } = call;
  const path = effective?.['path'];
  const file = typeof path === 'string' ? (isAbsolute(path) ? path : join(workspace, path)) : undefined;
  return {
    toolCallId: toolCallId(call),
    name,
    title: titleOf(name, effective),
    kind: KINDS[name] ?? 'other',
    status: 'pending',
    rawInput: effective ?? raw,
    ...(file === undefined ? {} : { locations: [{ path: file }] }),
    _meta: { jetloop: { callId: call.callId } },
  };
}

/** How a call ended. */
export function toolResultOf(result: EventData<'tool.result'>): ToolCallUpdate {
  return {
    toolCallId: toolCallId(result),
    status: result.isError ? 'failed' : 'completed',
    content: result.content.flatMap((block) => {
      const content = toAcpContent(block);
      return content ? [{ type: 'content' as const, content }] : [];
    }),
    ...(result.output === undefined ? {} : { rawOutput: result.output }),
    ...(result.error ? { _meta: { jetloop: { error: result.error } } } : {}),
  };
}

function titleOf(name: string, effective: EventData<'tool.call'>['effective']): string {
  const told = TELLING.map((key) => effective?.[key]).find((value) => typeof value === 'string' && value !== '');
  if (typeof told !== 'string') return name;
  const [line = ''] = told.split('\n', 1);
  const title = `${name} ${line}`;
  return title.length > TITLE_LENGTH || line.length < told.length ? `${title.slice(0, TITLE_LENGTH)}…` : title;
}

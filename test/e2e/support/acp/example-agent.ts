import type { Json } from '@jetloop/contracts';
import { ended } from './frame-cases.js';
import { called, interrupted, raw, result, said, type Told } from './frames.js';

/** How the example agent of the SDK is answered when it asks for permission. */
export interface Answered {
  readonly policy: 'deny' | 'allow_once' | 'ask';
  /** Of a person, where the policy asks one. */
  readonly outcome?: 'approved' | 'rejected';
}

const first = { path: '/project/README.md' };
const text = '# My Project\n\nThis is a sample project...';
const second = { path: '/project/config.json', content: '{"database": {"host": "new-host"}}' };
const edit = { toolCallId: 'call_2', title: 'Modifying critical configuration file', kind: 'edit', status: 'pending' };
/** A folder that the example makes up. */
const elsewhere = ['', 'home', 'user', 'project', 'config.json'].join('/');
const options = [
  { kind: 'allow_once', name: 'Allow this change', optionId: 'allow' },
  { kind: 'reject_once', name: 'Skip this change', optionId: 'reject' },
];
const done = { success: true, message: 'Configuration updated' };
const words = [
  "I'll help you with that. Let me start by reading some files to understand the current situation.",
  ' Now I understand the project structure. I need to make some changes to improve it.',
];
const lastWords = {
  allow: " Perfect! I've successfully updated the configuration. The changes have been applied.",
  reject: " I understand you prefer not to make that change. I'll skip the configuration update.",
};

/**
 * The events of a turn of the example agent behind its `step.start`, as `told` and `withoutIds` give them: what it writes is
 * known from its source.
 */
export function exampleLog({ policy, outcome }: Answered): Told[] {
  const optionId = policy === 'allow_once' || outcome === 'approved' ? 'allow' : 'reject';
  const data = { approvalId: 'ID', callId: 'call_2' };
  const asked: Told[] = [
    {
      type: 'approval.requested',
      data: {
        ...{ ...data, argumentsHash: 'HASH', expiresAt: 'TIME' },
        question: `May the agent go on with this? ${edit.title}`,
      },
    },
    { type: 'approval.decided', data: { approvalId: 'ID', outcome, by: 'test' } },
  ];
  return [
    answer('initialize', 1, { protocolVersion: 1, agentCapabilities: { loadSession: false } }),
    answer('session/new', 2, { sessionId: 'SESSION' }),
    called(0, 'call_1', 'Reading project files', first),
    raw('session/update/tool_call', {
      ...{ toolCallId: 'call_1', title: 'Reading project files', kind: 'read', status: 'pending' },
      ...{ locations: [first], rawInput: first },
    }),
    result(0, 'call_1', { content: text }, JSON.stringify({ content: text })),
    raw('session/update/tool_call_update', {
      ...{ toolCallId: 'call_1', status: 'completed' },
      content: [{ type: 'content', content: { type: 'text', text } }],
      rawOutput: { content: text },
    }),
    called(1, 'call_2', edit.title, second),
    raw('session/update/tool_call', { ...edit, locations: [{ path: second.path }], rawInput: second }),
    raw('session/request_permission', {
      sessionId: 'SESSION',
      toolCall: { ...edit, locations: [{ path: elsewhere }], rawInput: { ...second, path: elsewhere } },
      options,
    }),
    ...(outcome === undefined ? [] : asked),
    raw('session/request_permission/decision', {
      ...{ policy, toolCallId: 'call_2', offered: options },
      outcome: { outcome: 'selected', optionId },
    }),
    ...(optionId === 'allow'
      ? [
          result(1, 'call_2', done, JSON.stringify(done)),
          raw('session/update/tool_call_update', { toolCallId: 'call_2', status: 'completed', rawOutput: done }),
        ]
      : []),
    said([{ type: 'text', text: [...words, lastWords[optionId]].join('') }]),
    answer('session/prompt', 3, { stopReason: 'end_turn' }),
    ...(optionId === 'allow' ? [] : [interrupted(1, 'call_2')]),
    ...ended('completed'),
  ];
}

/** Without what the agent and the approval draw anew each time. */
export function withoutIds(events: readonly Told[]): Told[] {
  const drawn = new Map([
    ['sessionId', 'SESSION'],
    ['approvalId', 'ID'],
    ['argumentsHash', 'HASH'],
    ['expiresAt', 'TIME'],
  ]);
  return JSON.parse(JSON.stringify(events, (key, value: unknown) => drawn.get(key) ?? value)) as Told[];
}

function answer(source: string, id: number, result: Json): Told {
  return raw(source, { jsonrpc: '2.0', id, result });
}

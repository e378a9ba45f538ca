import { expect } from '@jest/globals';
import type { Json } from '@jetloop/contracts';
import { called, chunk, echoed, interrupted, notification, raw, result, said, update, type Told } from './frames.js';

/** What an agent writes between the prompt and its answer, and what must stand in the log of it: these events and no others. */
export interface FrameCase {
  readonly lines: readonly (string | Uint8Array)[];
  readonly log: readonly Told[];
  /** The answer's members beside `jsonrpc` and `id`. */
  readonly answer?: Record<string, Json>;
  /** What comes behind the answer in the log; default: the end of a completed turn. */
  readonly end?: readonly Told[];
  /** Live deltas before the one that ends the attempt. */
  readonly live?: readonly (readonly [kind: string, text: string, messageId?: string])[];
}

const text = (words: string): Json => ({ type: 'text', text: words });
/** The end of a turn. */
export const ended = (kind: string, more: Record<string, Json> = {}): Told[] => [
  { type: 'step.end', data: { turn: 1, step: 1 } },
  { type: 'turn.end', data: { turn: 1, reason: { kind, ...more } } },
];
/** The end of a turn that failed by what the agent answered. */
const failed = (name: string, code: string, message: string): Told[] => [
  { type: 'turn.error', data: { turn: 1, step: 1, error: { name, code, message } } },
  ...ended('error', { step: 1, code, message }),
];
const whole = (line: string): Json => JSON.parse(line) as Json;
const content = [{ type: 'content', content: { type: 'text', text: 'lines' } }];
const image = { type: 'image', data: 'AAAA', mimeType: 'image/png' };
const entries = Array.from({ length: 40 }, (_, n) => ({ content: `step ${n}`, priority: 'low', status: 'pending' }));
const thousand = Array.from({ length: 1_000 }, (_, n) => `${n} `);
const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
const unwritable = (encodeError: string, line: string): Json => ({ encodeError, text: line });
const INEXACT = 'a number that JSON cannot write back as it came';

const call = { toolCallId: 'c1', title: 'Read', kind: 'read', status: 'pending', rawInput: { path: 'a' } };
const opened = [called(0, 'c1', 'Read', { path: 'a' }), raw('session/update/tool_call', call)];
const infinite = update('usage_update', { used: 1, size: 2 }).replace('"used":1', '"used":1e999');
const infiniteCall = update('tool_call', { toolCallId: 'c1', title: 'Read', rawInput: 5 }).replace(':5}', ':1e999}');
const twice = update('session_info_update', { title: 'a' }).replace('"title":"a"', '"title":"a","title":"b"');
const tooDeep = notification('_note', null).replace('null', deep);
const tooDeepChunk = update('agent_message_chunk', { content: { type: 'resource', resource: 5 } }).replace(
  ':5}',
  `:{"x":${deep}}}`,
);
const unmapped = ['notice', 'compaction_update', 'plan_update', 'plan_removed', 'session_message', 'subagent_update'];
const misfits = [
  update('made_up', { a: 1 }),
  update('tool_call', { toolCallId: 'c' }),
  update('tool_call_update', { status: 'completed' }),
  update('tool_call_update', { toolCallId: 'c', status: 'exploded' }),
  update('plan', {}),
  update('agent_message_chunk', {}),
  update('agent_message_chunk', { content: { type: 'text' } }),
  update('agent_message_chunk', { content: { type: 'made_up', x: 1 } }),
  JSON.stringify({ jsonrpc: '2.0', method: 'session/update' }),
  JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { sessionId: 'agent-1' } }),
];
const variants: Record<string, Record<string, Json>> = {
  plan: { entries: [{ content: 'a', priority: 'high', status: 'pending' }] },
  usage_update: { used: 5, size: 100, cost: { amount: 0.5, currency: 'USD' } },
  session_info_update: { title: 'A title', _meta: { x: 1 } },
  current_mode_update: { currentModeId: 'plan' },
  config_option_update: { configOptions: [{ id: 'model' }] },
  available_commands_update: { availableCommands: [{ name: 'a', description: 'b' }] },
};

export const frameCases: Record<string, FrameCase> = {
  'A6 each chunk of the agent is one live delta, with its id; at the end one message': {
    lines: [chunk('agent_message_chunk', 'Hel', { messageId: 'm1' }), chunk('agent_message_chunk', 'lo')],
    log: [said([text('Hello')])],
    live: [
      ['text', 'Hel', 'm1'],
      ['text', 'lo'],
    ],
  },
  'A7 chunks of the user are nothing live, at the end one user.message without an id': {
    lines: [chunk('user_message_chunk', 'you ', { messageId: 'u1' }), chunk('user_message_chunk', 'said')],
    log: [echoed('you said')],
    live: [],
  },
  'A8 a thought is live, at the end one message of reasoning alone': {
    lines: [chunk('agent_thought_chunk', 'hmm')],
    log: [said([{ type: 'reasoning', text: 'hmm' }])],
    live: [['reasoning', 'hmm']],
  },
  'A9 the answer stands there verbatim': {
    lines: [],
    log: [],
    answer: { result: { stopReason: 'end_turn', _meta: { costUsd: 0.25 } }, extra: [1] },
  },
  'A10 a tool_call is a call, then the frame': {
    lines: [update('tool_call', call)],
    log: opened,
    end: [interrupted(0, 'c1'), ...ended('completed')],
  },
  'A10 one that is over already has its result between the two': {
    lines: [update('tool_call', { toolCallId: 'c1', title: 'Read', status: 'completed', rawOutput: 'text' })],
    log: [
      called(0, 'c1', 'Read'),
      result(0, 'c1', 'text', 'text'),
      raw('session/update/tool_call', { toolCallId: 'c1', title: 'Read', status: 'completed', rawOutput: 'text' }),
    ],
  },
  'A11 completed: the result, then the frame; rawOutput before the content array': {
    lines: [
      update('tool_call', call),
      update('tool_call', { toolCallId: 'c2', title: 'Run', rawInput: [1] }),
      update('tool_call_update', { toolCallId: 'c2', status: 'completed', content }),
      update('tool_call_update', { toolCallId: 'c1', status: 'completed', content, rawOutput: { lines: 3 } }),
      update('tool_call_update', { toolCallId: 'c1', status: 'completed' }),
    ],
    log: [
      ...opened,
      called(1, 'c2', 'Run', [1]),
      raw('session/update/tool_call', { toolCallId: 'c2', title: 'Run', rawInput: [1] }),
      result(1, 'c2', content, 'lines'),
      raw('session/update/tool_call_update', { toolCallId: 'c2', status: 'completed', content }),
      result(0, 'c1', { lines: 3 }, '{"lines":3}'),
      raw('session/update/tool_call_update', {
        toolCallId: 'c1',
        status: 'completed',
        content,
        rawOutput: { lines: 3 },
      }),
      raw('session/update/tool_call_update', { toolCallId: 'c1', status: 'completed' }),
    ],
  },
  'A12 failed without output: first the result, an error, its output null': {
    lines: [update('tool_call', call), update('tool_call_update', { toolCallId: 'c1', status: 'failed' })],
    log: [
      ...opened,
      result(0, 'c1', null, undefined, true),
      raw('session/update/tool_call_update', { toolCallId: 'c1', status: 'failed' }),
    ],
  },
  'A13 in_progress is the frame alone': {
    lines: [update('tool_call', call), update('tool_call_update', { toolCallId: 'c1', status: 'in_progress' })],
    log: [...opened, raw('session/update/tool_call_update', { toolCallId: 'c1', status: 'in_progress' })],
    end: [interrupted(0, 'c1'), ...ended('completed')],
  },
  'A14 six other variants, each its own source, without the tag': {
    lines: Object.entries(variants).map(([tag, fields]) => update(tag, fields)),
    log: Object.entries(variants).map(([tag, fields]) => raw(`session/update/${tag}`, fields)),
    live: [],
  },
  'A15 a plan is one event with all its entries': {
    lines: [update('plan', { entries })],
    log: [raw('session/update/plan', { entries })],
  },
  'A20 1,000 chunks are one message on each stream; another id ends it, a missing one does not; streams do not end each other':
    {
      lines: [
        ...thousand.flatMap((word, n) => [
          chunk('agent_thought_chunk', word, n % 2 === 0 ? { messageId: 't' } : {}),
          chunk('agent_message_chunk', word, n % 2 === 0 ? { messageId: 'a' } : {}),
          chunk('user_message_chunk', word, n % 2 === 0 ? { messageId: 'u' } : {}),
        ]),
        chunk('agent_message_chunk', 'next', { messageId: 'b' }),
        chunk('user_message_chunk', 'next', { messageId: 'v' }),
        chunk('agent_thought_chunk', 'next', { messageId: 's' }),
      ],
      log: [
        said([text(thousand.join(''))]),
        echoed(thousand.join('')),
        said([{ type: 'reasoning', text: thousand.join('') }]),
        said([text('next')]),
        echoed('next'),
        said([{ type: 'reasoning', text: 'next' }]),
      ],
    },
  'A21 an image keeps its place between texts; what a block cannot hold stays as meta': {
    lines: [
      chunk('agent_message_chunk', 'before ', { _meta: { a: 1 } }),
      update('agent_message_chunk', { content: { ...image, uri: 'file:i', extra: true } }),
      chunk('agent_message_chunk', 'after'),
      update('agent_message_chunk', { content: { type: 'resource_link', uri: 'file:a', name: 'a', mimeType: 7 } }),
      update('agent_message_chunk', { content: { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' } }),
    ],
    log: [
      said(
        [
          text('before '),
          { type: 'image', mediaType: 'image/png', base64: 'AAAA', url: 'file:i' },
          text('after'),
          { type: 'resource', uri: 'file:a' },
          { type: 'json', value: { type: 'audio', data: 'BBBB', mimeType: 'audio/wav' } },
        ],
        { meta: [{ _meta: { a: 1 } }, { content: { extra: true } }, { content: { name: 'a', mimeType: 7 } }] },
      ),
    ],
  },
  'A22 a broken line, an array, a text, a JSON that is no JSON-RPC, bad UTF-8': {
    lines: [
      '{"jsonrpc":"2.0","meth',
      '[{"jsonrpc":"2.0"}]',
      '"x"',
      '{"a":1}',
      '{"id":{},"method":"x"}',
      Uint8Array.from([0x7b, 0xff, 0xfe]),
      Uint8Array.of(0xa0), // in Latin-1 a space
    ],
    log: [
      ...['{"jsonrpc":"2.0","meth', '[{"jsonrpc":"2.0"}]', '"x"', '{"a":1}', '{"id":{},"method":"x"}'].map((line) =>
        raw('undecodable', { text: line }),
      ),
      raw('undecodable', { base64: 'e//+' }),
      raw('undecodable', { base64: 'oA==' }),
    ],
  },
  'A22 unknown tags and missing fields: the whole frame': {
    lines: misfits,
    log: misfits.map((line) => raw('session/update/undecodable', whole(line))),
  },
  'A22 tags of the schema without a translation': {
    lines: unmapped.map((tag) => update(tag, { planId: 'p' })),
    log: unmapped.map((tag) =>
      raw('session/update/unrecognised', { sessionId: 'agent-1', update: { sessionUpdate: tag, planId: 'p' } }),
    ),
  },
  'A22 another session, another notification, an answer to nothing, members of no protocol': {
    lines: [
      update('plan', { entries: [] }, 'other'),
      notification('_vendor/note', { x: 1 }),
      JSON.stringify({ jsonrpc: '2.0', id: 99, result: { x: 1 } }),
      JSON.stringify({ ...(whole(chunk('agent_message_chunk', 'hi')) as object), trace: 'abc' }),
    ],
    log: [
      raw('session/update/foreign', { sessionId: 'other', update: { sessionUpdate: 'plan', entries: [] } }),
      raw('notification/_vendor/note', { x: 1 }),
      raw('response/unexpected', { jsonrpc: '2.0', id: 99, result: { x: 1 } }),
      raw('frame/members', { trace: 'abc' }),
      said([text('hi')]),
    ],
  },
  'A22 what JSON cannot write back: 1e999, a key twice, 100,000 levels': {
    lines: [infinite, infiniteCall, twice, tooDeep, tooDeepChunk, chunk('agent_message_chunk', 'still here')],
    log: [
      raw('session/update/usage_update', unwritable(INEXACT, infinite)),
      called(0, 'c1', 'Read', unwritable(INEXACT, infiniteCall)),
      raw('session/update/tool_call', unwritable(INEXACT, infiniteCall)),
      raw('session/update/session_info_update', unwritable('a key is there twice', twice)),
      { type: 'harness.raw', data: { source: 'notification/_note', value: { blob: expect.anything() } } },
      {
        type: 'assistant.message',
        data: expect.objectContaining({
          content: [{ type: 'blob', of: 'json', blob: expect.anything() }, text('still here')],
        }),
      },
    ],
    end: [interrupted(0, 'c1'), ...ended('completed')],
  },
};

const stops: Record<string, readonly Told[]> = {
  end_turn: ended('completed'),
  max_tokens: ended('max-tokens'),
  max_turn_requests: ended('max-steps'),
  refusal: ended('refused'),
  cancelled: ended('aborted', { reason: 'the agent cancelled the turn itself' }),
};
for (const stopReason of ['completed', 'END_TURN', 'end_turn ', '', 'toString']) {
  const message = `The agent stopped for ${JSON.stringify(stopReason)}, which is not known.`;
  stops[stopReason] = failed('Protocol', 'unknown_stop_reason', message);
}
const finishReasons = new Map([
  ['max_tokens', 'max-tokens'],
  ['end_turn', 'stop'],
  ['max_turn_requests', 'stop'],
  ['refusal', 'content-filter'],
]);
for (const [stopReason, end] of Object.entries(stops))
  frameCases[`A4 A5 stop reason "${stopReason}"`] = {
    lines: [chunk('agent_message_chunk', 'words')],
    log: [said([text('words')], { finishReason: finishReasons.get(stopReason) ?? 'aborted' })],
    answer: { result: { stopReason } },
    end,
  };
const noReason = failed('Protocol', 'unknown_stop_reason', 'The answer to the prompt has no stop reason.');
for (const answer of [{ result: {} }, { result: { stopReason: 5 } }, { result: null }, { result: [] }])
  frameCases[`A23 no stop reason: ${JSON.stringify(answer)}`] = { lines: [], log: [], answer, end: noReason };
frameCases['A23 a JSON-RPC error: its data is kept'] = {
  lines: [],
  log: [],
  answer: { error: { code: -32000, message: 'Please log in', data: { url: ['x'] } } },
  end: failed('Harness', 'rpc_-32000', 'The agent answered session/prompt with error -32000: Please log in'),
};

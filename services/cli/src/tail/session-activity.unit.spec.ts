import { describe, expect, it } from '@jest/globals';
import type { SessionEvent } from '@jetloop/contracts';
import { defaultAgent } from '../agent/default-agent.js';
import { entriesOf, events } from '../testing/entries.js';
import { SessionActivity } from './session-activity.js';

const created: SessionEvent = {
  type: 'session.created',
  data: { agent: { ...defaultAgent, tools: [] }, source: 'startup', workspace: '/w' },
};
const queued: SessionEvent = {
  type: 'message.queued',
  data: { messageId: 'm1', lane: 'turn', content: [{ type: 'text', text: 'Hello' }], source: { kind: 'user' } },
};
const listed: SessionEvent = {
  type: 'tools.listed',
  data: { digest: 'd', tools: [{ name: 'bash', readonly: false, idempotent: false, schemaHash: 'h' }] },
};
const call = events.call(0, 'bash', { command: 'ls' });
const answer: SessionEvent = {
  type: 'assistant.message',
  data: {
    ...{ turn: 1, step: 1, finishReason: 'tool-calls', cost: 0, attempts: [] },
    content: [{ type: 'tool-call', id: 'call-0', name: 'bash', arguments: '{"command":"ls"}' }],
    model: { target: 'default', provider: 'p', model: 'm' },
    usage: { input: 1, cacheRead: 0, cacheWrite: 0, output: 1 },
  },
};
const asked: SessionEvent[] = [
  { ...call, data: { ...call.data, decision: 'ask' } } as SessionEvent,
  {
    type: 'approval.requested',
    data: {
      ...{ approvalId: '1-1-0', callId: 'call-0', argumentsHash: 'h', question: 'May it?' },
      expiresAt: '2030-01-01T00:00:00.000Z',
    },
  },
];
const begun = [created, queued, events.turnStart()];
const inStep = [...begun, events.userMessage('Hello'), listed, events.stepStart(1)];

describe('what a session waits for', () => {
  it.each<[string, SessionEvent[], string[]]>([
    ['a session without a turn', [created], []],
    [
      'one whose start policies are asked about',
      [{ ...created, data: { ...created.data, asks: 'session-start' } }],
      ['policies at session-start'],
    ],
    ['a prompt that is not let in yet', begun, ['policies at prompt-submit']],
    ['an open step', inStep, ['model']],
    ['a call that is not decided', [...inStep, answer], ['policies at pre-tool']],
    ['a call that a person is asked about', [...inStep, answer, ...asked], ['approval 1-1-0']],
    ['a call that runs', [...inStep, answer, call], ['tool bash']],
  ])('%s', (_what, log, expected) => {
    const activity = new SessionActivity('t', 's1');
    for (const entry of entriesOf(...log)) activity.see(entry);
    expect(activity.waitsFor).toEqual(expected);
  });
});

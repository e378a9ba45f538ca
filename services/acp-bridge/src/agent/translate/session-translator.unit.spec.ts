import { describe, expect, it } from '@jest/globals';
import {
  agentSpecSchema,
  assertEvent,
  type AgentSpecInput,
  type LiveDelta,
  type SessionEvent,
} from '@jetloop/contracts';
import { SessionTranslator } from './session-translator.js';
import type { Told } from './told.js';

const user = { kind: 'user' } as const;
const text = (value: string) => [{ type: 'text' as const, text: value }];

class Driver {
  private readonly translator: SessionTranslator;
  private sequence = 0;
  isShown = true;

  constructor(spec: Partial<AgentSpecInput> = {}, own: readonly string[] = []) {
    this.translator = new SessionTranslator({ isOwn: (id) => own.includes(id), isShown: () => this.isShown });
    const agent = agentSpecSchema.parse({ name: 'coder', model: { chain: ['m'] }, ...spec });
    this.event({ type: 'session.created', data: { agent, source: 'startup', workspace: '/w' } });
  }

  event(event: SessionEvent): Told[] {
    assertEvent(event);
    return this.translator.event({ ...event, sequence: this.sequence++, version: 1 });
  }

  delta(n: number, piece: string): unknown {
    const delta: LiveDelta = { turn: 1, step: 1, attemptId: 'a', n, kind: 'text', text: piece };
    return this.translator.delta(delta);
  }

  begin(...messageIds: string[]): void {
    this.event({ type: 'turn.start', data: { turn: 1, trigger: { kind: 'message', source: user }, messageIds } });
    this.event({ type: 'step.start', data: { turn: 1, step: 1 } });
  }

  call(name: string, effective: Record<string, string>, decision: 'allow' | 'ask' | 'deny' = 'allow'): unknown[] {
    const position = { turn: 1, step: 1, n: 0, callId: 'c1' };
    const data = { ...position, name, arguments: JSON.stringify(effective), effective, decision };
    return updatesOf(this.event({ type: 'tool.call', data }));
  }

  result(isError: boolean): unknown[] {
    const data = { turn: 1, step: 1, n: 0, callId: 'c1', content: text('out'), isError, durationMs: 1 };
    return updatesOf(this.event({ type: 'tool.result', data }));
  }
}

function updatesOf(told: readonly Told[]): unknown[] {
  return told.map((one) => (one.kind === 'update' ? one.update : one));
}

describe('SessionTranslator', () => {
  it('shows a call, that it runs, and how it ended', () => {
    const driver = new Driver();
    driver.begin('m1');
    expect(driver.call('read_file', { path: 'a.txt' })).toMatchObject([
      {
        ...{
          sessionUpdate: 'tool_call',
          toolCallId: '1.1.0',
          title: 'read_file a.txt',
          kind: 'read',
          status: 'pending',
        },
        rawInput: { path: 'a.txt' },
        locations: [{ path: '/w/a.txt' }],
      },
      { sessionUpdate: 'tool_call_update', toolCallId: '1.1.0', status: 'in_progress' },
    ]);
    expect(driver.result(false)).toMatchObject([
      { sessionUpdate: 'tool_call_update', toolCallId: '1.1.0', status: 'completed', content: [{ type: 'content' }] },
    ]);
  });

  it('never shows a denied call as running', () => {
    const driver = new Driver();
    driver.begin('m1');
    expect(driver.call('bash', { command: 'x' }, 'deny')).toMatchObject([{ sessionUpdate: 'tool_call' }]);
    expect(driver.result(true)).toMatchObject([{ status: 'failed' }]);
  });

  it('asks about a call, and shows it running from its approval on', () => {
    const driver = new Driver();
    driver.begin('m1');
    expect(driver.call('bash', { command: 'ls' }, 'ask')).toHaveLength(1);
    const asked = driver.event({
      type: 'approval.requested',
      data: { approvalId: 'p1', callId: 'c1', argumentsHash: 'h', expiresAt: 'later', question: 'May it?' },
    });
    expect(asked).toMatchObject([
      { kind: 'asked', question: { approvalId: 'p1', question: 'May it?', toolCall: { toolCallId: '1.1.0' } } },
    ]);
    const decided = driver.event({
      type: 'approval.decided',
      data: { approvalId: 'p1', outcome: 'approved', by: 'somebody' },
    });
    expect(decided).toMatchObject([
      { kind: 'decided', approvalId: 'p1' },
      { kind: 'update', update: { status: 'in_progress' } },
    ]);
  });

  it('sends plans whole: of todo_write once it took effect, of an external agent as they come', () => {
    const driver = new Driver();
    driver.begin('m1');
    const position = { turn: 1, step: 1, n: 0, callId: 'c1' };
    const effective = {
      items: [
        { text: 'Look', status: 'done' },
        { text: 'Mend', status: 'in_progress' },
      ],
    };
    const call = { ...position, name: 'todo_write', arguments: '', effective, decision: 'allow' as const };
    driver.event({ type: 'tool.call', data: call });
    expect(driver.result(false)).toMatchObject([
      { status: 'completed' },
      {
        sessionUpdate: 'plan',
        entries: [
          { content: 'Look', priority: 'medium', status: 'completed' },
          { content: 'Mend', priority: 'medium', status: 'in_progress' },
        ],
      },
    ]);
    const value = { entries: [{ content: 'Mend', priority: 'high', status: 'pending', more: 1 }] };
    expect(updatesOf(driver.event({ type: 'harness.raw', data: { source: 'session/update/plan', value } }))).toEqual([
      { sessionUpdate: 'plan', ...value },
    ]);
    expect(
      driver.event({ type: 'harness.raw', data: { source: 'session/update/plan', value: { entries: 1 } } }),
    ).toEqual([]);
  });

  it('echoes what others said and not its own prompts, nor what policies add', () => {
    const driver = new Driver({}, ['mine']);
    driver.begin('mine', 'yours');
    const said = (messageId: string, source: { kind: 'user' | 'caller' | 'policy' | 'harness' }) =>
      driver.event({ type: 'user.message', data: { turn: 1, messageId, content: text(messageId), source } });
    expect(said('mine', { kind: 'user' })).toEqual([]);
    expect(said('yours', { kind: 'user' })).toMatchObject([
      { update: { sessionUpdate: 'user_message_chunk', messageId: 'yours', content: { text: 'yours' } } },
    ]);
    expect(said('echo', { kind: 'harness' })).toEqual([]);
    expect(said('hint', { kind: 'policy' })).toEqual([]);
  });

  it('takes no delta of a step that has not begun, is told, or has ended', () => {
    const driver = new Driver();
    expect(driver.delta(0, 'x')).toBeUndefined();
    driver.begin('m1');
    expect(driver.delta(0, 'Hel')).toMatchObject({ sessionUpdate: 'agent_message_chunk', content: { text: 'Hel' } });
    const answer = {
      turn: 1,
      step: 1,
      content: text('Hello'),
      finishReason: 'stop' as const,
      model: null,
      usage: null,
    };
    const told = driver.event({ type: 'assistant.message', data: { ...answer, cost: null, attempts: [] } });
    expect(updatesOf(told)).toMatchObject([{ content: { text: 'lo' }, messageId: 'a' }]);
    expect(driver.delta(1, 'lo')).toBeUndefined();
    expect(driver.event({ type: 'turn.end', data: { turn: 1, reason: { kind: 'completed' } } })).toMatchObject([
      { kind: 'ended', messageIds: ['m1'], answer: { response: { stopReason: 'end_turn' } } },
    ]);
    expect(driver.delta(2, 'x')).toBeUndefined();
  });

  it('tells the text of a step that began unseen as a message of its own', () => {
    const driver = new Driver();
    driver.isShown = false;
    driver.begin('m1');
    driver.isShown = true;
    expect(driver.delta(3, 'lo')).toBeUndefined();
    const answer = {
      turn: 1,
      step: 1,
      content: text('Hello'),
      finishReason: 'stop' as const,
      model: null,
      usage: null,
    };
    const told = driver.event({ type: 'assistant.message', data: { ...answer, cost: null, attempts: [] } });
    expect(updatesOf(told)).toMatchObject([{ content: { text: 'Hello' }, messageId: '1.1.resumed' }]);
  });

  it('ends a message that no turn will take, as cancelled', () => {
    const told = new Driver().event({ type: 'message.discarded', data: { messageId: 'm1', reason: 'closed' } });
    expect(told).toMatchObject([
      { kind: 'ended', messageIds: ['m1'], answer: { response: { stopReason: 'cancelled' } } },
    ]);
  });

  it('gives the name of the error that ended a turn', () => {
    const driver = new Driver();
    driver.begin('m1');
    const error = { name: 'LlmError', code: 'server_error', message: 'on fire' };
    driver.event({ type: 'turn.error', data: { turn: 1, step: 1, error } });
    const reason = { kind: 'error' as const, step: 1, message: 'on fire', code: 'server_error' };
    expect(driver.event({ type: 'turn.end', data: { turn: 1, reason } })).toMatchObject([
      { answer: { kind: 'failed', name: 'LlmError', code: 'server_error' } },
    ]);
  });
});

import type { HarnessEvent } from '@jetloop/contracts';
import type { SessionDriver } from '../session-driver.fixture.spec.js';
import { openHarness } from './apply-harness.js';
import { PERMISSION_ASK } from './harness-log.js';

/** What an external agent may tell of. */
export const tellings = ['call', 'result', 'frame', 'says', 'thinks', 'asks', 'user'] as const;
export type Telling = (typeof tellings)[number];

/** The events that a bridge would send of these, in the open step; the result of a call that is not open is left out. */
export function eventsOf(session: SessionDriver, told: readonly Telling[], text: string): HarnessEvent[] {
  const { turn, step } = session.work('acp').command;
  const open = [...(openHarness(session.state!)?.calls.values() ?? [])];
  let next = callsOf(session, turn);
  const said = (type: 'text' | 'reasoning'): HarnessEvent => ({
    type: 'assistant.message',
    data: {
      ...{ turn, step, content: [{ type, text: text || 'so' }], finishReason: 'stop' },
      ...{ model: null, usage: null, cost: null, attempts: [] },
    },
  });
  const eventOf = (one: Telling): HarnessEvent[] => {
    switch (one) {
      case 'call': {
        const call = { n: next, callId: `c${next++}` };
        open.push(call);
        const data = { turn, step, ...call, name: 'Read', arguments: '{}', effective: {}, decision: 'allow' as const };
        return [{ type: 'tool.call', data }];
      }
      case 'result': {
        const call = open.shift();
        const content = [{ type: 'text' as const, text }];
        return call
          ? [{ type: 'tool.result', data: { turn, step, ...call, content, isError: false, durationMs: 1 } }]
          : [];
      }
      case 'frame':
        return [{ type: 'harness.raw', data: { source: 'session/update/plan', value: { text } } }];
      case 'asks':
        return [{ type: 'harness.raw', data: { source: PERMISSION_ASK, value: { toolCall: { toolCallId: text } } } }];
      case 'says':
        return [said('text')];
      case 'thinks':
        return [said('reasoning')];
      case 'user':
        return [
          { type: 'user.message', data: { turn, content: [{ type: 'text', text }], source: { kind: 'harness' } } },
        ];
    }
  };
  return told.flatMap(eventOf);
}

/** Calls of the running attempt so far: it counts from 0. */
function callsOf(session: SessionDriver, turn: number): number {
  const types = session.log.flatMap(({ events }) => events);
  const begun = types.findLastIndex(
    ({ type, data }) => type === 'work.deferred' || (type === 'turn.start' && (data as { turn: number }).turn === turn),
  );
  return types.slice(begun).filter(({ type }) => type === 'tool.call').length;
}

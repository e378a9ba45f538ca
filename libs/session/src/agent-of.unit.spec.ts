import { describe, expect, it } from '@jest/globals';
import { agentSpecSchema, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';
import { agentOf } from './agent-of.js';

const agent = agentSpecSchema.parse({ name: 'coder' });
const created: RecordedEvent = {
  type: 'session.created',
  sequence: 0,
  version: 1,
  data: { agent, source: 'startup', workspace: 'w' },
};

describe('agentOf', () => {
  it('is the agent of the first event', () => {
    expect(agentOf([created])).toBe(agent);
  });

  it('is nobody where the log is empty, begins otherwise, or in a version that is not known', () => {
    const closed: RecordedEvent = { type: 'session.closed', sequence: 0, version: 1, data: { reason: 'done' } };
    const unknown: UnknownEvent = { ...created, version: 99 };
    expect([[], [closed, created], [unknown]].map(agentOf)).toEqual([undefined, undefined, undefined]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { intervene, supportedInterventions, type Intervention } from './interventions.js';

const target = { agentSession: 'agent-1', ended: false };
const unsupported: readonly Intervention[] = [
  { kind: 'inject_message', lane: 'steer', text: 'left' },
  { kind: 'inject_message', lane: 'inject', text: 'a fact' },
  { kind: 'pause_resume', paused: true },
  { kind: 'update_budget', tokens: 5 },
  { kind: 'respond_to_approval', approvalId: 'a', approved: true },
];

describe('interventions in a running attempt', () => {
  it('A3 the set that is advertised is cancel alone', () => {
    expect([...supportedInterventions]).toEqual(['cancel']);
    expect(supportedInterventions.size).toBe(1);
  });

  it('a cancel is one notification whose params are exactly the session', () => {
    const frames = ['{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"agent-1"}}'];
    expect(intervene({ kind: 'cancel' }, target)).toEqual({ frames });
  });

  it.each(unsupported)('A32 $kind is refused by its label, with no frame', (intervention) => {
    const refused = { refused: 'CapabilityNotSupported', primitive: intervention.kind };
    expect(intervene(intervention, target)).toEqual(refused);
    expect(intervene(intervention, { ...target, ended: true })).toEqual(refused);
  });

  it('A32 a target that ended is stale', () => {
    expect(intervene({ kind: 'cancel' }, { ...target, ended: true })).toEqual({ refused: 'StaleTarget' });
  });
});

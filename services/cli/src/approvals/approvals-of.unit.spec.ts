import { expect, it } from '@jest/globals';
import type { SessionEvent } from '@jetloop/contracts';
import { entriesOf, events } from '../testing/entries.js';
import { approvalsOf } from './approvals-of.js';

const asked = (approvalId: string, callId: string): SessionEvent => ({
  type: 'approval.requested',
  data: { approvalId, callId, argumentsHash: 'h', expiresAt: '2030-01-01T00:00:00.000Z', question: 'May it?' },
});

it('names the tool that waits, and what was decided', () => {
  const decided: SessionEvent = {
    type: 'approval.decided',
    data: { approvalId: 'a0', outcome: 'rejected', by: 'ann', note: 'no' },
  };
  const list = entriesOf(
    events.call(0, 'bash', { command: 'ls' }),
    asked('a0', 'call-0'),
    events.call(1, 'write_file', { path: 'x' }),
    asked('a1', 'call-1'),
    decided,
  );
  expect(approvalsOf(list)).toMatchObject([
    { approvalId: 'a0', tool: 'bash', question: 'May it?', decided: { outcome: 'rejected', by: 'ann', note: 'no' } },
    { approvalId: 'a1', tool: 'write_file', decided: undefined },
  ]);
});

import { describe, expect, it } from '@jest/globals';
import type { SessionEntry } from '@jetloop/client';
import type { SessionEvent } from '@jetloop/contracts';
import { defaultAgent } from '../agent/default-agent.js';
import { entriesOf, events } from '../testing/entries.js';
import { followSession } from './follow-session.js';

const created: SessionEvent = {
  type: 'session.created',
  data: { agent: defaultAgent, source: 'startup', workspace: '/w' },
};
const queued: SessionEvent = {
  type: 'message.queued',
  data: { messageId: 'm1', lane: 'turn', content: [{ type: 'text', text: 'Hello' }], source: { kind: 'user' } },
};
const turn = [queued, events.turnStart(), events.userMessage('Hello'), events.turnEnd()];

/** A client whose session holds some events, and gets the others once somebody waits for more. */
function clientOf(stored: SessionEvent[], coming: SessionEvent[]) {
  const all = entriesOf(...stored, ...coming);
  return {
    events: async function* (_session: string, { from = 0, follow = true } = {}): AsyncGenerator<SessionEntry> {
      for (const entry of follow ? all : all.slice(0, stored.length))
        if (entry.event.sequence >= from) yield await Promise.resolve(entry);
    },
  };
}

async function follow(stored: SessionEvent[], coming: SessionEvent[], options: { from?: number; untilIdle?: boolean }) {
  const seen: number[] = [];
  const activity = await followSession(clientOf(stored, coming), 's1', {
    ...{ tenant: 't', from: 0, untilIdle: false, signal: new AbortController().signal, ...options },
    onEntry: ({ event }) => seen.push(event.sequence),
  });
  return { seen, lastEnd: activity.lastEnd?.kind };
}

describe('followSession', () => {
  it('shows what is there and what comes, each once, from a sequence on', async () => {
    expect((await follow([created, queued], turn.slice(1), { from: 1 })).seen).toEqual([1, 2, 3, 4]);
  });

  it('until idle: ends at once where nothing is open', async () => {
    expect(await follow([created, ...turn], [queued], { untilIdle: true })).toEqual({
      seen: [0, 1, 2, 3, 4],
      lastEnd: 'completed',
    });
  });

  it('until idle: waits for the turn of a prompt that is queued', async () => {
    const { seen } = await follow([created, queued], [...turn.slice(1), queued], { untilIdle: true });
    expect(seen).toEqual([0, 1, 2, 3, 4]);
  });

  it('ends when the session is closed', async () => {
    const closed: SessionEvent = { type: 'session.closed', data: { reason: 'done' } };
    expect((await follow([created, closed], [queued], {})).seen).toEqual([0, 1]);
  });
});

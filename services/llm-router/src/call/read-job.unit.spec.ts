import { describe, expect, it } from '@jest/globals';
import { agentSpecSchema, textOf, type LlmCommand, type RecordedEvent, type SessionEvent } from '@jetloop/contracts';
import { COMPACTION_INSTRUCTION } from '@jetloop/session';
import { readJob } from './read-job.js';

const agent = agentSpecSchema.parse({
  name: 'agent',
  model: { chain: ['a', 'b'], fallback: false, temperature: 0.5 },
  systemPrompt: 'Be brief.',
});
const source = { kind: 'user' as const };
const says = (text: string): SessionEvent => ({
  type: 'user.message',
  data: { turn: 1, content: [{ type: 'text', text }], source },
});
const log: RecordedEvent[] = (
  [
    { type: 'session.created', data: { agent, source: 'startup', workspace: '/w' } },
    says('first'),
    says('second'),
    { type: 'compaction.start', data: { turn: 1, range: { from: 0, to: 1 } } },
    says('too late'),
  ] satisfies SessionEvent[]
).map((event, sequence) => ({ ...event, sequence, version: 1 }));
const tool = { name: 'grep', description: 'finds', inputSchema: {} };
const command: LlmCommand = {
  commandId: 'c',
  tenant: 't',
  session: 's',
  turn: 1,
  step: 1,
  what: 'llm',
  attempt: 1,
  upTo: 3,
  since: '2026-01-01T00:00:00Z',
  deadline: '2026-01-01T00:10:00Z',
  purpose: 'step',
};
const textsOf = (more: Partial<LlmCommand>) =>
  readJob({ ...command, ...more }, log, [tool]).request.messages.map(({ content }) => textOf(content));

describe('readJob', () => {
  it('holds what stands up to `upTo`, with the tools and the settings of the agent', () => {
    const job = readJob(command, log, [tool]);
    expect(textsOf({})).toEqual(['first', 'second']);
    expect(job).toMatchObject({ order: ['a', 'b'], primary: 'a', fallback: false });
    expect(job.request).toMatchObject({ systemPrompt: 'Be brief.', tools: [tool], temperature: 0.5, step: 1 });
  });

  it('tells of no tools where the answer is to be an object', () => {
    const output = { schema: { type: 'object' } };
    const { request } = readJob({ ...command, output }, log, [tool]);
    expect(request).toMatchObject({ tools: [], output });
  });

  it('of a compaction is its range and the instruction, without tools', () => {
    expect(textsOf({ purpose: 'compaction' })).toEqual(['first', COMPACTION_INSTRUCTION]);
    expect(readJob({ ...command, purpose: 'compaction' }, log, [tool]).request.tools).toEqual([]);
  });

  it('refuses a compaction that had not begun, and a session without a model', () => {
    expect(() => readJob({ ...command, purpose: 'compaction', upTo: 2 }, log, [])).toThrow(/no compaction had begun/);
    expect(() => readJob(command, log.slice(1), [])).toThrow(/no agent with a model/);
  });
});

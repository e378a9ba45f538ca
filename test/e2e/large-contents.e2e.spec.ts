import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { TestSystem } from './support/test-system.js';

const guard = `
name: guard
agents: ['guarded']
policies:
  - name: no-names
    seam: prompt-submit
    when: { prompt: { contains: agent 47 } }
    decide: { redact: { patterns: ['agent 47'], with: '[somebody]' } }
`;
const scripted = (script: unknown[]) => ({
  provider: 'scripted',
  dialect: 'scripted' as const,
  model: 'scripted',
  script: script as never,
});
const long = (end: string) => `${'the same again. '.repeat(25_000)}${end}`;

describe('contents that are too large for the log', () => {
  let system: TestSystem;
  beforeAll(async () => {
    const reads = scripted([
      { match: { contains: 'the needle' }, reply: { text: 'I have read the end.' } },
      { reply: { text: 'The end is missing.' } },
    ]);
    system = await TestSystem.start({ targets: { reads }, policies: [guard] });
  });
  afterAll(() => system.stop());

  it('a prompt of 400 KB stands in the log by reference, and the model reads it whole', async () => {
    const session = await system.create('reads');
    expect(await session.prompt(long('the needle'))).toEqual({ kind: 'completed' });
    const [queued] = await session.data('message.queued');
    expect(queued?.content).toMatchObject([{ type: 'blob', of: 'text', blob: { size: expect.any(Number) } }]);
    expect((await session.data('user.message')).map(({ content }) => content)).toEqual([queued?.content]);
    expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'I have read the end.' }] }]);
  });

  it('the same prompt twice is one message', async () => {
    const session = await system.create('reads');
    const first = await system.client.prompt(session.id, long('the needle'), { messageId: 'm1' });
    expect(await system.client.prompt(session.id, long('the needle'), { messageId: 'm1' })).toEqual(first);
    await expect(system.client.prompt(session.id, long('other'), { messageId: 'm1' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('policies look at what was said, and what they write in its place is kept outside too', async () => {
    const session = await system.create('reads', { name: 'guarded' });
    expect(await session.prompt(long('agent 47 has the needle'))).toEqual({ kind: 'completed' });
    const [message] = await session.data('user.message');
    expect(message?.content).toMatchObject([{ type: 'blob', of: 'text' }]);
    expect(message?.content).not.toEqual((await session.data('message.queued'))[0]?.content);
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'guard/no-names', decision: 'rewrite' }]);
    expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'I have read the end.' }] }]);
  });
});

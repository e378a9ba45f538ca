import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelScript } from '@jetloop/testing';
import { spoken, text } from './support/messages.js';
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
/** A model that says whether it was told the end. */
const reads: ModelScript = (request) => ({
  text: spoken(request).join().includes('the needle') ? 'I have read the end.' : 'The end is missing.',
});
const long = (end: string) => `${'the same again. '.repeat(25_000)}${end}`;

describe('contents that are too large for the log', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({
      policies: [guard],
      plugins: {
        watched: {
          'pre-step': async ({ messages }) => {
            const said = JSON.stringify(await messages());
            return {
              decision: 'none',
              context: text(said.length > 400_000 && said.includes('the needle') ? 'whole' : 'cut'),
            };
          },
        },
      },
    });
  });
  afterAll(() => system.stop());

  it('a prompt of 400 KB stands in the log by reference, and the model reads it whole', async () => {
    const session = await system.create(reads);
    expect(await session.prompt(long('the needle'))).toEqual({ kind: 'completed' });
    const [queued] = await session.data('message.queued');
    expect(queued?.content).toMatchObject([{ type: 'blob', of: 'text', blob: { size: expect.any(Number) } }]);
    expect((await session.data('user.message')).map(({ content }) => content)).toEqual([queued?.content]);
    expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'I have read the end.' }] }]);
  });

  it('the same prompt twice is one message', async () => {
    const session = await system.create(reads);
    const first = await system.client.prompt(session.id, long('the needle'), { messageId: 'm1' });
    expect(await system.client.prompt(session.id, long('the needle'), { messageId: 'm1' })).toEqual(first);
    await expect(system.client.prompt(session.id, long('other'), { messageId: 'm1' })).rejects.toMatchObject({
      code: 'conflict',
    });
  });

  it('policies look at what was said, and what they write in its place is kept outside too', async () => {
    const session = await system.create(reads, { name: 'guarded' });
    expect(await session.prompt(long('agent 47 has the needle'))).toEqual({ kind: 'completed' });
    const [message] = await session.data('user.message');
    expect(message?.content).toMatchObject([{ type: 'blob', of: 'text' }]);
    expect(message?.content).not.toEqual((await session.data('message.queued'))[0]?.content);
    expect(await session.data('policy.decided')).toMatchObject([{ policy: 'guard/no-names', decision: 'rewrite' }]);
    expect(await session.data('assistant.message')).toMatchObject([{ content: [{ text: 'I have read the end.' }] }]);
  });

  it('a policy that is asked before a step reads the conversation whole', async () => {
    const session = await system.create(reads, { name: 'watched' });
    expect(await session.prompt(long('the needle'))).toEqual({ kind: 'completed' });
    expect(await session.data('user.message')).toMatchObject([{ content: [{ type: 'blob' }] }]);
    expect(await session.data('context.message')).toMatchObject([{ content: text('whole') }]);
  });
});

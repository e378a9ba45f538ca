import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { ModelScript } from '@jetloop/testing';
import { defineTool } from '@jetloop/tool-runner';
import { z } from 'zod';
import { spoken, text } from './support/messages.js';
import { subjectsHolding } from './support/stored-bytes.js';
import { TestSystem } from './support/test-system.js';
import { answerTool, slowCall } from './support/tool-stand-in.js';

const guard = `
name: guard
agents: ['guarded']
policies:
  - name: no-names
    seam: prompt-submit
    when: { prompt: { contains: agent 47 } }
    decide: { redact: { patterns: ['agent 47'], with: '[somebody]' } }
`;
/** A set for the agent of its name, with one policy for results. */
const results = (name: string, decide: unknown): string =>
  JSON.stringify({ name, agents: [name], policies: [{ name: 'results', seam: 'post-tool', decide }] });
const redacting = results('redacting', { redact: { patterns: ['/hunter\\d/'], with: '***' } });
const blocking = results('blocking', { block: 'Nobody needs to know.' });
const SECRET = 'the password is hunter2. ';

const tellAll = defineTool({
  name: 'tell_all',
  description: 'Tells all that it knows.',
  readonly: true,
  input: z.object({}),
  run: () => ({ content: SECRET, output: { all: SECRET.repeat(10_000) } }),
});

/** A model that says whether it was told the end. */
const reads: ModelScript = (request) => ({
  text: spoken(request).join().includes('the needle') ? 'I have read the end.' : 'The end is missing.',
});
const long = (end: string) => `${'the same again. '.repeat(25_000)}${end}`;

describe('contents that are too large for the log', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({
      tools: [tellAll],
      policies: [guard, redacting, blocking],
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

  describe('H5 a result over 128 KiB that post-tool takes out is in no event, and in no blob', () => {
    const tell = { name: 'tell_all', arguments: {} };
    /** Its text is cut, its whole output is kept. */
    const cat = { name: 'bash', arguments: { command: 'cat long.txt' } };
    beforeAll(async () => {
      await writeFile(join(system.workspace, 'long.txt'), SECRET.repeat(60_000));
    });

    const turn = async (agent: string, ...calls: { name: string; arguments: unknown }[]) => {
      const session = await system.create([{ calls }, { text: 'done' }], { name: agent, tools: ['*'] });
      expect(await session.prompt('tell me')).toEqual({ kind: 'completed' });
      return { session, told: spoken(session.requests[1]).join() };
    };
    const holding = () => subjectsHolding(system.bus, 'hunter2');
    /** It is deleted behind the commit. */
    const gone = async () => {
      const deadline = performance.now() + 20_000;
      while ((await holding()).length > 0 && performance.now() < deadline) await sleep(50);
      return holding();
    };

    it.each([
      ['redacting', [tell], '***'],
      ['redacting', [cat], '***'],
      ['redacting', [tell, tell], '***'],
      ['blocking', [tell], 'Nobody needs to know.'],
      ['blocking', [cat], 'Nobody needs to know.'],
    ])('%s, %j', async (agent, calls, words) => {
      const { session, told } = await turn(agent, ...calls);
      expect(told).toContain(words);
      expect(told).not.toContain('hunter2');
      expect(JSON.stringify(await session.events())).not.toContain('hunter2');
      expect(await gone()).toEqual([]);
    });

    it('of a runner that sends its text whole', async () => {
      const session = await system.create([{ calls: [slowCall('c1')] }, { text: 'done' }], {
        name: 'redacting',
        tools: ['bash'],
      });
      const end = await session.begin('tell me');
      await answerTool(system, session, { turn: 1, step: 1 }, text(SECRET.repeat(10_000)));
      expect(await end()).toEqual({ kind: 'completed' });
      expect(await session.data('tool.result')).toMatchObject([{ content: [{ type: 'blob', of: 'text' }] }]);
      expect(spoken(session.requests[1]).join()).toContain('the password is ***. the password is ***.');
      expect(await gone()).toEqual([]);
    });

    it('what nobody takes out stays: such a search finds it', async () => {
      await turn('open', tell);
      expect(await holding()).not.toEqual([]);
    });
  });
});

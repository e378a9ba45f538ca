import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ScriptedAgent, storyOf } from './support/acp/scripted-agent.js';
import { TestSystem } from './support/test-system.js';

describe('a turn that an external agent drives', () => {
  let system: TestSystem;

  beforeAll(async () => {
    system = await TestSystem.start({ targets: {} });
  });

  afterAll(async () => {
    await system.stop();
  });

  it('A1 version 1 passes: the log holds the turn like a native one', async () => {
    const agent = await ScriptedAgent.write(system.workspace, async (a) => {
      const prompt = await a.prompted();
      await a.say('Hello');
      await a.say(', world');
      await a.stop(prompt);
    });
    const session = await system.create('harness', agent.spec);
    expect(await session.prompt('hi')).toEqual({ kind: 'completed' });
    expect(storyOf(await session.events())).toEqual([
      'session.created',
      'message.queued',
      'turn.start',
      'user.message',
      'step.start',
      'initialize',
      'session/new',
      'assistant.message',
      'session/prompt',
      'step.end',
      'turn.end',
    ]);
  });
});

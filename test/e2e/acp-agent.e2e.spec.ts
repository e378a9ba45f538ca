import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { agentSpecSchema, type AgentSpecInput } from '@jetloop/contracts';
import { AgentStore } from '@jetloop/messaging';
import { AcpEditor, textIn } from './support/acp-editor.js';
import { TestSystem } from './support/test-system.js';

const scripted = (script: unknown[]) => ({
  provider: 'scripted',
  dialect: 'scripted' as const,
  model: 'scripted',
  script: script as never,
});

const targets = {
  talks: scripted([{ reply: { text: 'hello to you' } }]),
};

describe('jetloop acp, to an editor', () => {
  let system: TestSystem;
  let agents: AgentStore;
  const editors: AcpEditor[] = [];

  beforeAll(async () => {
    system = await TestSystem.start({ targets });
    agents = await AgentStore.open(system.bus);
    await put({ name: 'talker', model: { chain: ['talks'] } });
  });
  afterEach(() => {
    for (const editor of editors.splice(0)) editor.kill();
  });
  afterAll(async () => {
    agents.close();
    await system.stop();
  });

  const put = (spec: AgentSpecInput) => agents.put(system.tenant, agentSpecSchema.parse({ tools: [], ...spec }));
  const open = async (agent: string): Promise<AcpEditor> => {
    const editor = await AcpEditor.open({ natsUrl: system.natsUrl, tenant: system.tenant, agent });
    editors.push(editor);
    return editor;
  };

  it('answers a prompt at the end of its turn, and ends with its input', async () => {
    const editor = await open('talker');
    const session = await editor.newSession(system.workspace);
    const answer = await editor.prompted(session, 'hi');
    expect(answer).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(textIn(editor.updates(session))).toBe('hello to you');
    expect(await editor.end()).toBe(0);
  });
});

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import type { AgentSpecInput } from '@jetloop/contracts';
import { storyOf } from '../e2e/support/acp/scripted-agent.js';
import { TestSystem } from '../e2e/support/test-system.js';
import { PeerModel } from './support/peer-model.js';
import { peerProgram } from './support/peer-program.js';

// Programs of other people, which take their time to start.
jest.setTimeout(120_000);

let system: TestSystem;
let model: PeerModel;
let home: string;

beforeAll(async () => {
  system = await TestSystem.start();
  model = await PeerModel.start();
  home = await mkdtemp(join(tmpdir(), 'jetloop-peers-'));
});
afterAll(async () => {
  await system.stop();
  await model.stop();
  await rm(home, { recursive: true, force: true });
});

type Harness = NonNullable<AgentSpecInput['harness']>;

/** Agents that are in use, each with a home of its own and the model of this test. */
const agents: Record<string, () => Promise<Partial<Harness> & Pick<Harness, 'command'>>> = {
  'claude-agent-acp': async () => ({
    command: process.execPath,
    args: [await peerProgram('@agentclientprotocol/claude-agent-acp', 'claude-agent-acp')],
    env: {
      HOME: home,
      ANTHROPIC_BASE_URL: model.url,
      ANTHROPIC_API_KEY: 'sk-ant-none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
    },
  }),
  'opencode acp': async () => {
    const config = {
      model: 'local/model-1',
      autoupdate: false,
      share: 'disabled',
      provider: {
        local: {
          npm: '@ai-sdk/openai-compatible',
          name: 'Local',
          options: { baseURL: `${model.url}/v1`, apiKey: 'none' },
          models: { 'model-1': { name: 'Model 1' } },
        },
      },
    };
    await writeFile(join(system.workspace, 'opencode.json'), JSON.stringify(config));
    const env = {
      HOME: home,
      OPENCODE_DISABLE_AUTOUPDATE: '1',
      OPENCODE_DISABLE_MODELS_FETCH: '1',
      OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
      OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    };
    return { command: await peerProgram('opencode-ai', 'opencode'), args: ['acp'], env };
  },
};

describe.each(Object.entries(agents))('%s as the engine of a session', (_name, harnessOf) => {
  it('answers a prompt, loads its session for the next one and is cancelled in it; log and SQL say so', async () => {
    const harness = { kind: 'acp' as const, permissionPolicy: 'deny' as const, ...(await harnessOf()) };
    const session = await system.create('none', { harness });
    const { messageId } = await system.client.prompt(session.id, 'Say hello.');
    const { reason } = await system.client.turnOf(session.id, messageId, { signal: AbortSignal.timeout(90_000) });
    const failures = await session.data('turn.error');
    expect({ reason, failures }).toEqual({ reason: { kind: 'completed' }, failures: [] });
    const answers = await session.data('assistant.message');
    // Some add notices of their own to what the model says.
    const said = expect.stringMatching(/^Hello from the model\./);
    expect(answers.flatMap(({ content }) => content)).toContainEqual({ type: 'text', text: said });

    const begun = session.said();
    const waiting = await system.client.prompt(session.id, 'WAIT for me.');
    await begun;
    await system.client.cancel(session.id, { reason: 'enough' });
    expect(await session.endOf(waiting.messageId)).toEqual({ kind: 'aborted', reason: 'enough' });
    expect(model.asked('WAIT for me.')).toBeGreaterThan(0);

    const story = storyOf(await session.events());
    expect(story.filter((step) => ['initialize', 'session/new', 'session/load'].includes(step))).toEqual([
      'initialize',
      'session/new',
      'initialize',
      'session/load',
    ]);
    expect(story.filter((step) => step === 'session/prompt')).toHaveLength(2);
    expect(story.filter((step) => step.includes('undecodable'))).toEqual([]);
    const where = `tenant = '${system.tenant}' and session_id = '${session.id}'`;
    expect(await system.sql(`select end_reason from turns where ${where} order by turn`)).toEqual([
      ['completed'],
      ['aborted'],
    ]);
    expect(await system.sql(`select role, text from messages where ${where} order by seq`)).toEqual(
      expect.arrayContaining([
        ['user', 'Say hello.'],
        ['assistant', said],
        ['user', 'WAIT for me.'],
        ['assistant', 'One moment'],
      ]),
    );
  });
});

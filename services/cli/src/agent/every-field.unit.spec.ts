import { describe, expect, it } from '@jest/globals';
import { agentSpecSchema } from '@jetloop/contracts';
import { parseAgent } from './load-agent.js';

/** For each field of a spec: a value that does not fit it, and the path of what does not fit. */
const wrong: Record<keyof typeof agentSpecSchema.shape, readonly [value: unknown, path: string][]> = {
  name: [['a b', 'name']],
  description: [[1, 'description']],
  model: [
    ['fast', 'model'],
    [{}, 'model.chain'],
    [{ chain: ['a', 'a'] }, 'model.chain'],
    [{ chain: [''] }, 'model.chain[0]'],
    [{ chain: ['a'], fallback: 'no' }, 'model.fallback'],
    [{ chain: ['a'], temperature: -1 }, 'model.temperature'],
    [{ chain: ['a'], maxTokens: 0 }, 'model.maxTokens'],
    [{ chain: ['a'], thinking: 1 }, 'model.thinking'],
    [{ chain: ['a'], fallbacks: true }, 'model.fallbacks'],
  ],
  systemPrompt: [[['be brief'], 'systemPrompt']],
  tools: [
    [{ bash: true }, 'tools'],
    [[''], 'tools[0]'],
  ],
  mcpServers: [
    [[], 'mcpServers'],
    [{ x: { command: '' } }, 'mcpServers.x.command'],
    [{ x: { command: 'a', args: 'b' } }, 'mcpServers.x.args'],
    [{ x: { command: 'a', env: { A: 1 } } }, 'mcpServers.x.env.A'],
    [{ x: { command: 'a', perSession: 'yes' } }, 'mcpServers.x.perSession'],
    [{ x: { command: 'a', readonlyTools: 'all' } }, 'mcpServers.x.readonlyTools'],
    [{ x: { url: 'somewhere' } }, 'mcpServers.x.url'],
    [{ x: { url: 'http://127.0.0.1', headers: { A: 1 } } }, 'mcpServers.x.headers.A'],
    [{ x: { url: 'http://127.0.0.1', args: [] } }, 'mcpServers.x.args'],
    [{ 'a b': { command: 'a' } }, 'mcpServers: the name "a b"'],
  ],
  readonly: [[1, 'readonly']],
  sandbox: [['docker', 'sandbox']],
  limits: [
    [{ maxSteps: 'ten' }, 'limits.maxSteps'],
    [{ steps: 1 }, 'limits.steps'],
  ],
  budgets: [
    [{ tokens: 1.5 }, 'budgets.tokens'],
    [{ cost: -1 }, 'budgets.cost'],
    [{ time: 1 }, 'budgets.time'],
  ],
  deadlines: [
    [{ turn: 0 }, 'deadlines.turn'],
    [{ tool: 'long' }, 'deadlines.tool'],
    [{ llm: -1 }, 'deadlines.llm'],
  ],
  modes: [
    [{}, 'modes'],
    [[{ id: 'a b', name: 'x' }], 'modes[0].id'],
    [[{ id: 'a' }], 'modes[0].name'],
  ],
  harness: [
    [{ kind: 'acp', command: 'a' }, 'harness.permissionPolicy'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'yes' }, 'harness.permissionPolicy'],
    [{ kind: 'acp', command: '', permissionPolicy: 'deny' }, 'harness.command'],
    [{ kind: 'mcp', command: 'a', permissionPolicy: 'deny' }, 'harness.kind'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', args: 'b' }, 'harness.args'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', env: { A: 1 } }, 'harness.env.A'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', cwd: 1 }, 'harness.cwd'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', mcpServers: [1] }, 'harness.mcpServers[0]'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', continuity: 'some' }, 'harness.continuity'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', maxAttempts: 0 }, 'harness.maxAttempts'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', approvalMs: 0 }, 'harness.approvalMs'],
    [{ kind: 'acp', command: 'a', permissionPolicy: 'deny', timeout: 1 }, 'harness.timeout'],
  ],
};

describe('an agent file', () => {
  it.each(Object.entries(wrong))(
    'L47 whose %s does not fit is refused with file, path and expectation',
    (field, cases) => {
      for (const [value, path] of cases) {
        const text = JSON.stringify({ name: 'a', model: { chain: ['a'] }, [field]: value });
        expect(() => parseAgent(text, 'agent.yaml')).toThrow(`agent.yaml: ${path}: `);
        expect(() => parseAgent(text, 'agent.yaml')).toThrow(/expected|unknown field/);
      }
    },
  );
});

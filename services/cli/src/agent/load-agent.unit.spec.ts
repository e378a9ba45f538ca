import { describe, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { defaultAgent } from './default-agent.js';
import { loadAgent, parseAgent } from './load-agent.js';

function problems(text: string): string[] {
  try {
    parseAgent(text, 'agent.yaml');
  } catch (error) {
    return error instanceof Error ? error.message.split('\n') : [];
  }
  return [];
}

describe('an agent file', () => {
  it('gets all defaults', () => {
    expect(parseAgent('name: a\nmodel: { chain: [default] }', 'agent.yaml')).toMatchObject({
      tools: ['*'],
      limits: { maxSteps: 50 },
      readonly: false,
    });
  });

  it.each([
    ['limits: { maxSteps: ten }', 'agent.yaml: limits.maxSteps: expected a whole number of at least 0, got "ten"'],
    ['limits: { maxSteps: -1 }', 'agent.yaml: limits.maxSteps: expected a whole number of at least 0, got -1'],
    ['limits: { maxSteps: 1.5 }', 'agent.yaml: limits.maxSteps: expected a whole number of at least 0, got 1.5'],
    ['model: { chain: [] }', 'agent.yaml: model.chain: expected at least one target, got []'],
    ['model: { chain: [a], temperature: 3 }', 'agent.yaml: model.temperature: expected a number from 0 to 2, got 3'],
    ['sandbox: docker', 'agent.yaml: sandbox: expected one of "none", "bubblewrap", got "docker"'],
    ['readonly: "yes"', 'agent.yaml: readonly: expected true or false, got "yes"'],
    ['tools: bash', 'agent.yaml: tools: expected a list of texts, got "bash"'],
    ['tools: [1]', 'agent.yaml: tools[0]: expected text, got 1'],
    ['limits: 5', 'agent.yaml: limits: expected a mapping, got 5'],
    ['limitz: {}', 'agent.yaml: limitz: unknown field: did you mean limits?'],
    ['mcpServers: { x: { command: 3 } }', 'agent.yaml: mcpServers.x.command: expected text, got 3'],
    ['deadlines: { turn: 0 }', 'agent.yaml: deadlines.turn: expected a whole number above 0, got 0'],
  ])('that says %s is refused with file, path and expectation', (line, message) => {
    expect(problems(`name: a\n${line}`)).toEqual([message]);
  });

  it('without a name, or that is no mapping, is refused', () => {
    expect(problems('readonly: true')).toEqual(['agent.yaml: name: expected text, got nothing']);
    expect(problems('just text')).toEqual(['agent.yaml: expected a mapping, got "just text"']);
  });

  it('with an id that cannot be a subject token is refused', () => {
    expect(problems('name: a.b')[0]).toContain('agent.yaml: name: expected 1 to 64 characters');
  });

  it('that is no YAML is refused with line and column', () => {
    expect(problems('name: a\ntools: [\n')[0]).toMatch(/^agent\.yaml:3:1: /);
  });

  it('that is not there is refused by name', async () => {
    await expect(loadAgent('/nowhere/agent.yaml')).rejects.toThrow(
      'The agent file /nowhere/agent.yaml does not exist.',
    );
  });
});

describe('the examples', () => {
  const folder = join(import.meta.dirname, '../../../../examples/agents');

  it('hold the default agent, to begin from', async () => {
    const { systemPrompt, ...coder } = await loadAgent(join(folder, 'coder.yaml'));
    expect({ ...coder, systemPrompt: systemPrompt.trimEnd() }).toEqual(defaultAgent);
  });

  it('hold a reviewer that changes nothing', async () => {
    expect(await loadAgent(join(folder, 'reviewer.yaml'))).toMatchObject({ name: 'reviewer', readonly: true });
  });
});

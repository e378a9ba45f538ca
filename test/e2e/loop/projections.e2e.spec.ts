import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { consumeEvents } from '../support/external-consumer.js';
import { TestSystem } from '../support/test-system.js';

describe('what a turn leaves behind', () => {
  let system: TestSystem;
  beforeAll(async () => {
    system = await TestSystem.start({
      plugins: { denying: { 'pre-tool': () => ({ decision: 'deny', reason: 'this folder is not for writing' }) } },
    });
  });
  afterAll(() => system.stop());

  it('SQL holds what the log holds: session, turns, messages, calls and attempts', async () => {
    const call = { name: 'write_file', arguments: { path: 'denied.txt', content: 'x' } };
    const target = system.model([{ calls: [call] }, { text: 'I went another way.' }]);
    const session = await system.create(target, { name: 'denying', tools: ['write_file'] });
    await session.prompt('write it down');
    const where = `tenant = '${system.tenant}' and session_id = '${session.id}'`;
    expect(await system.sql(`select status, turns, steps from sessions where ${where}`)).toEqual([['idle', 1, 2]]);
    expect(await system.sql(`select count(*)::int from events where ${where}`)).toEqual([
      [(await session.events()).length],
    ]);
    expect(await system.sql(`select name, decision, is_error, error_code from tool_calls where ${where}`)).toEqual([
      ['write_file', 'deny', true, 'denied'],
    ]);
    expect(await system.sql(`select role from messages where ${where} order by seq`)).toEqual([
      ['user'],
      ['assistant'],
      ['assistant'],
    ]);
    expect(await system.sql(`select target, outcome, why from model_attempts where ${where} order by step`)).toEqual([
      [target, 'ok', 'primary'],
      [target, 'ok', 'primary'],
    ]);
    expect(await system.sql(`select policy, decision, reason from policy_decisions where ${where}`)).toEqual([
      ['denying/test', 'deny', 'this folder is not for writing'],
    ]);
  });

  it('a plain consumer of evt.<tenant>.*.tool.> gets the tool events of every session, in order', async () => {
    const session = await system.create(() => ({ calls: [{ name: 'list_dir' }] }), {
      tools: ['list_dir'],
      limits: { maxSteps: 2 },
    });
    await session.prompt('go');
    await system.sql('select 1');
    const seen = await consumeEvents(system.natsUrl, `evt.${system.tenant}.*.tool.>`);
    const mine = seen
      .filter(({ subject }) => subject.includes(`.${session.id}.`))
      .map(({ value }) => value as { type: string; sequence: number });
    expect(mine.map(({ type }) => type)).toEqual([
      'jetloop.tool.call',
      'jetloop.tool.result',
      'jetloop.tool.call',
      'jetloop.tool.result',
    ]);
    const sequences = mine.map(({ sequence }) => sequence);
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
  });
});

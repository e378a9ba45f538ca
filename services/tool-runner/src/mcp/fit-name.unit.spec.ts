import { describe, expect, it } from '@jest/globals';
import { TOOL_NAME } from '../tool/tool-name.js';
import { fitName, mayBelongTo } from './fit-name.js';

describe('public names of MCP tools', () => {
  it('are the names of server and tool where these fit', () => {
    expect(fitName('memory', 'read_graph')).toBe('memory__read_graph');
  });

  it.each([
    ['a', 'x'.repeat(90)],
    ['a', 'files.read'],
    ['a', 'ä b/c'],
    ['a', ''],
    ['s'.repeat(64), 'tool'],
  ])('are made to fit, with a hash (%s, %s)', (server, tool) => {
    const name = fitName(server, tool);
    expect(name).toMatch(TOOL_NAME);
    expect(fitName(server, tool)).toBe(name);
    expect(mayBelongTo(server, name)).toBe(true);
  });

  it('never meet: other servers, other dots, and names that look like made ones', () => {
    const pairs: [string, string][] = [
      ['a', 'b__c'],
      ['a__b', 'c'],
      ['a_', 'b'],
      ['a', '_b'],
      ['a', 'x.y'],
      ['a', 'x_y'],
      ['a', 'x y'],
      ['a', 'z'.repeat(90)],
      ['a', 'z'.repeat(91)],
    ];
    const names = pairs.map(([server, tool]) => fitName(server, tool));
    const lookalike = fitName('a', names[4]!.replace('a__', ''));
    expect(new Set([...names, lookalike]).size).toBe(pairs.length + 1);
  });
});

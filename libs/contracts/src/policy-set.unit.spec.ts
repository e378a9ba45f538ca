import { describe, expect, it } from '@jest/globals';
import { matchesGlob, policyVersionFor, readPolicySetHeader, seamsFor } from './policy-set.js';
import { seams } from './seams.js';

describe('matchesGlob', () => {
  it.each([
    ['*', '', true],
    ['*', 'abc', true],
    ['a*c', 'abbc', true],
    ['a*c', 'abcd', false],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['*b*', 'abc', true],
    ['a**', 'a', true],
    ['', '', true],
    ['', 'a', false],
    ['a.c', 'abc', false],
    ['*ab', 'aab', true],
  ])('%j on %j: %s', (glob, text, expected) => {
    expect(matchesGlob(glob, text)).toBe(expected);
  });
});

describe('seamsFor', () => {
  const header = (name: string, value: unknown): ReturnType<typeof readPolicySetHeader> =>
    readPolicySetHeader(name, value);
  const scope = { tenant: 'acme', agent: 'coder' };

  it('collects the seams of the sets that apply', () => {
    const sets = [
      header('a', { name: 'a', policies: [{ seams: ['pre-tool'], when: {} }, { seams: ['pre-tool', 'post-tool'] }] }),
      header('b', { name: 'b', tenants: ['other'], policies: [{ seams: ['pre-step'] }] }),
      header('c', { name: 'c', agents: ['review*'], policies: [{ seams: ['pre-step'] }] }),
    ];
    expect([...seamsFor(sets, scope)]).toEqual(['pre-tool', 'post-tool']);
    expect([...seamsFor([], scope)]).toEqual([]);
  });

  it('takes a set that cannot be read for one on every seam', () => {
    expect([...seamsFor([header('x', { policies: 'none' })], scope)]).toEqual([...seams]);
  });
});

describe('policyVersionFor', () => {
  it('names the sets that apply, whatever their order', () => {
    const value = { name: 'x', policies: [] };
    const sets = new Map([
      ['b', { revision: 2, value }],
      ['a', { revision: 7, value }],
      ['c', { revision: 9, value: { ...value, tenants: ['other'] } }],
    ]);
    expect(policyVersionFor(sets, { tenant: 'acme', agent: 'coder' })).toBe('a@7,b@2');
  });
});

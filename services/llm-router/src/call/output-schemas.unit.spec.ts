import { describe, expect, it } from '@jest/globals';
import { OutputSchemas } from './output-schemas.js';

const misfit = (schema: Record<string, unknown>, value: unknown) => new OutputSchemas().findMisfit(schema)(value);

describe('OutputSchemas', () => {
  it('finds nothing wrong with what fits', () => {
    expect(misfit({ type: 'object', required: ['a'] }, { a: 1 })).toBeUndefined();
    expect(misfit({ prefixItems: [{ type: 'string' }], items: false }, ['one'])).toBeUndefined();
  });

  it('names the rule that is missed, and nothing of the value', () => {
    const found = misfit({ additionalProperties: { type: 'integer' } }, { secret: 'canary' });
    expect(found).toContain('#/additionalProperties/type');
    expect(found).not.toMatch(/secret|canary/);
  });

  it('reads draft 7 where the schema says so, leaves unknown keywords and formats alone', () => {
    const draft7 = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
    expect(misfit(draft7, [1])).toContain('#/items/0/type');
    expect(misfit({ 'x-ours': 1, format: 'uuid' }, 'no uuid')).toBeUndefined();
  });

  it('keeps schemas with one id apart', () => {
    const schemas = new OutputSchemas();
    const one = schemas.findMisfit({ $id: 'same', type: 'string' });
    const other = schemas.findMisfit({ $id: 'same', type: 'number' });
    expect([one('a'), other(1)]).toEqual([undefined, undefined]);
    expect([one(1), other('a')]).not.toContain(undefined);
  });

  it('ends a check that backtracks or has no end', () => {
    const backtracks = { type: 'string', pattern: '^(a+)+$' };
    expect(misfit(backtracks, `${'a'.repeat(32)}!`)).toContain('could not be checked');
    expect(misfit(backtracks, 'aaa!')).toContain('#/pattern');
    expect(misfit(backtracks, 'aaa')).toBeUndefined();
    expect(misfit({ $ref: '#' }, {})).toContain('could not be checked');
  });

  it('throws where the schema is none', () => {
    expect(() => misfit({ type: 'no such type' }, 1)).toThrow();
  });
});

import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from './define-tool.js';
import { ToolRegistry } from './tool-registry.js';

const named = (name: string, input = z.object({ a: z.string() })) =>
  defineTool({ name, description: name, input, run: () => 'ran' });

describe('ToolRegistry', () => {
  it('lists tools by name with schema and flags', () => {
    const [first, second] = new ToolRegistry([named('b'), named('a')]).list();
    expect(first).toMatchObject({
      name: 'a',
      readonly: false,
      idempotent: false,
      inputSchema: {
        type: 'object',
        properties: { a: { type: 'string' } },
        required: ['a'],
        additionalProperties: false,
      },
    });
    expect(second?.name).toBe('b');
    expect(first?.schemaHash).toMatch(/^[0-9a-f]{64}$/);
  });

  it('gives equal schemas equal hashes, whatever the order of keys, and others another', () => {
    const hash = (input: z.ZodObject<{ a: z.ZodString }>) =>
      new ToolRegistry([named('t', input)]).list()[0]?.schemaHash;
    expect(hash(z.object({ a: z.string().min(1).max(2) }))).toBe(hash(z.object({ a: z.string().max(2).min(1) })));
    expect(hash(z.object({ a: z.string() }))).not.toBe(hash(z.object({ a: z.string().min(1) })));
  });

  it('refuses two tools of one name', () => {
    expect(() => new ToolRegistry([named('a'), named('a')])).toThrow('two tools are named "a"');
  });

  it("refuses a name of the loop's own tools", () => {
    expect(() => new ToolRegistry([named('ask_user')])).toThrow('"ask_user" is a tool of the loop itself');
  });

  it.each(['', 'a.b', 'ä', 'x'.repeat(65)])('refuses the name %j', (name) => {
    expect(() => named(name)).toThrow(/must match/);
  });
});

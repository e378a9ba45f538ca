import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { defineTool } from './define-tool.js';

const tool = defineTool({
  name: 'probe',
  description: 'A tool to call wrongly.',
  input: z.object({
    path: z.string(),
    limit: z.int().min(1).optional(),
    edits: z.array(z.strictObject({ from: z.string(), to: z.string() })).optional(),
  }),
  run: () => 'ran',
});

const MISFITS: [kind: string, raw: string, message: RegExp][] = [
  ['wrong type', '{"path":7}', /- path: .*expected string.*number/],
  ['missing key', '{"limit":1}', /- path: .*expected string.*undefined/],
  ['unknown key', '{"path":"a","pth":"b"}', /unknown key "pth"; allowed: path, limit, edits/],
  [
    'unknown key below',
    '{"path":"a","edits":[{"from":"1","to":"2","all":true}]}',
    /edits\[0\]: unknown key "all"; allowed: from, to/,
  ],
  ['number out of range', '{"path":"a","limit":0}', /- limit: .*>=1/],
];

describe('arguments that parse but do not fit the tool', () => {
  it.each(MISFITS)('%s: refused, and the message names what was expected', (_kind, raw, message) => {
    const value = JSON.parse(raw) as Record<string, unknown>;
    expect(tool.fit(value)).toEqual({ ok: false, message: expect.stringMatching(new RegExp(message.source, 's')) });
  });
});

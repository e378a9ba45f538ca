import { assertJson, jsonBytes, type Json } from '@jetloop/contracts';
import { z } from 'zod';
import { cutText, OUTPUT_LIMIT } from './cut-output.js';
import { readThrown } from './thrown.js';
import { ToolError } from './tool-error.js';
import type { ToolBlock, ToolFailure, ToolReturn } from './tool.js';

/** Base64 characters of one image that still go to the model. */
const IMAGE_LIMIT = 7 * 1024 * 1024;

const Block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('json'), value: z.unknown() }),
  z.object({ type: z.literal('image'), mediaType: z.string(), base64: z.string() }),
  z.object({
    type: z.literal('resource'),
    uri: z.string(),
    mediaType: z.string().exactOptional(),
    text: z.string().exactOptional(),
  }),
]);
const Content = z.union([z.string(), z.array(Block)]);
const Returned = z.object({
  content: Content,
  output: z.unknown().optional(),
  isError: z.boolean().optional(),
  error: z.object({ name: z.string(), code: z.string() }).optional(),
});

export type CheckedBlock = Exclude<ToolBlock, { type: 'json' }> | { type: 'json'; value: Json };

export interface CheckedReturn {
  content: CheckedBlock[];
  output?: Json;
  isError: boolean;
  error?: ToolFailure;
}

/**
 * Checks what a tool handed back (tools are plugged in, their types may lie) and cuts it to what the model gets.
 * @returns `cut`: the texts of which the model gets a part, whole and in order
 */
export function checkReturn(returned: ToolReturn): { checked: CheckedReturn; cut: string[] } {
  const isContent = typeof returned === 'string' || Array.isArray(returned);
  const parsed = Returned.safeParse(isContent ? { content: returned } : returned);
  if (!parsed.success)
    throw new ToolError('invalid_result', 'The tool handed back something else than text or content blocks.');
  const { content, output, isError = false, error } = parsed.data;
  const blocks: ToolBlock[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const cut: string[] = [];
  const checked = {
    content: cutBlocks(blocks, cut),
    ...(output === undefined ? {} : { output: asJson(output) }),
    isError: isError || error !== undefined,
    ...(error === undefined ? {} : { error }),
  };
  return { checked, cut };
}

/** All text of one result shares the limit; a late block still gets room for a head and a tail. */
function cutBlocks(blocks: ToolBlock[], whole: string[]): CheckedBlock[] {
  let room = OUTPUT_LIMIT;
  const cutTo = (text: string): string => {
    // NUL has no place in a model's text nor in Postgres' jsonb.
    const visible = text.includes('\0') ? text.replaceAll('\0', '␀') : text;
    const { text: shown, truncated } = cutText(visible, { limit: Math.max(room, 512) });
    if (truncated) whole.push(text);
    room -= Buffer.byteLength(shown);
    return shown;
  };
  const cut = (text: string): CheckedBlock => ({ type: 'text', text: cutTo(text) });
  return blocks.map((block) => {
    if (block.type === 'text') return cut(block.text);
    if (block.type === 'image')
      return block.base64.length <= IMAGE_LIMIT ? block : cut(`[image, ${block.mediaType}, too large to show]`);
    if (block.type === 'resource') return block.text === undefined ? block : { ...block, text: cutTo(block.text) };
    const value = asJson(block.value);
    const size = jsonBytes(value);
    if (size > room) return cut(JSON.stringify(value));
    room -= size;
    return { type: 'json', value };
  });
}

/** The value as JSON carries it; undefined, which JSON cannot carry alone, becomes null. */
function asJson(value: unknown): Json {
  try {
    const text = JSON.stringify(value) as string | undefined;
    const carried: unknown = text === undefined ? null : JSON.parse(text);
    assertJson('the result', carried);
    return carried;
  } catch (error) {
    throw new ToolError(
      'invalid_result',
      `The tool handed back a value that JSON cannot carry: ${readThrown(error).message}`,
    );
  }
}

import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { ToolBlock, ToolReturn } from '../tool/tool.js';

const resource = z.object({
  uri: z.string(),
  mimeType: z.string().optional(),
  text: z.string().optional(),
  blob: z.string().optional(),
});
const block = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text: z.string() }),
  z.object({ type: z.literal('image'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('audio'), data: z.string(), mimeType: z.string() }),
  z.object({ type: z.literal('resource'), resource }),
  z.object({ type: z.literal('resource_link'), uri: z.string(), mimeType: z.string().optional() }),
]);

/** What a server answers to a call. */
export const mcpResultSchema = z.object({
  content: z.array(block).default([]),
  structuredContent: z.unknown().optional(),
  isError: z.boolean().default(false),
});
export type McpResult = z.output<typeof mcpResultSchema>;

/** The blocks in the server's order; structured content that no text repeats stands last, and is the output for programs too. */
export function toolReturnOf({
  content,
  structuredContent,
  isError,
}: McpResult): Exclude<ToolReturn, string | unknown[]> {
  const blocks = content.map(blockOf);
  const isRepeated = content.some(
    (one) => one.type === 'text' && isDeepStrictEqual(parsed(one.text), structuredContent),
  );
  const structured: ToolBlock[] =
    structuredContent === undefined || isRepeated ? [] : [{ type: 'json', value: structuredContent }];
  return {
    content: [...blocks, ...structured],
    ...(structuredContent === undefined ? {} : { output: structuredContent }),
    ...(isError ? { isError, error: { name: 'McpToolError', code: 'tool_failed' } } : {}),
  };
}

function blockOf(one: z.output<typeof block>): ToolBlock {
  switch (one.type) {
    case 'text':
      return one;
    case 'image':
      return { type: 'image', mediaType: one.mimeType, base64: one.data };
    case 'audio':
      return { type: 'text', text: `[audio, ${one.mimeType}, ${sizeOf(one.data)} bytes, not shown]` };
    case 'resource_link':
      return { type: 'resource', uri: one.uri, ...mediaType(one.mimeType) };
    case 'resource': {
      const { uri, mimeType, text, blob } = one.resource;
      if (text !== undefined) return { type: 'resource', uri, ...mediaType(mimeType), text };
      if (blob !== undefined && mimeType?.startsWith('image/') === true)
        return { type: 'image', mediaType: mimeType, base64: blob };
      const size = blob === undefined ? '' : `, ${sizeOf(blob)} bytes, not shown`;
      return { type: 'text', text: `[resource ${uri}, ${mimeType ?? 'unknown type'}${size}]` };
    }
  }
}

const mediaType = (mimeType: string | undefined) => (mimeType === undefined ? {} : { mediaType: mimeType });
const sizeOf = (base64: string) => Buffer.byteLength(base64, 'base64');

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // Ordinary text repeats nothing.
    return undefined;
  }
}

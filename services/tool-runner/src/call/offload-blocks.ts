import type { ContentBlock, ToolReply } from '@jetloop/contracts';
import type { BlobStore } from '@jetloop/messaging';

type Result = Extract<ToolReply['result'], { status: 'result' }>;

/** Bytes beyond which a block goes to the blob store. */
const BLOCK_LIMIT = 128 * 1024;

/** Moves what is too large for an event to the blob store, and leaves a reference. */
export async function offloadBlocks(
  blobs: Pick<BlobStore, 'put'>,
  { tenant, session }: { readonly tenant: string; readonly session: string },
  result: Result,
): Promise<Result> {
  const put = (bytes: Uint8Array, mediaType: string) => blobs.put(tenant, session, bytes, mediaType);
  const content = await Promise.all(
    result.content.map(async (block): Promise<ContentBlock> => {
      if (block.type !== 'image' || block.base64 === undefined || block.base64.length <= BLOCK_LIMIT) return block;
      const bytes = Buffer.from(block.base64, 'base64');
      return { type: 'blob', of: 'image', blob: await put(bytes, block.mediaType) };
    }),
  );
  if (result.output === undefined) return { ...result, content };
  const output = Buffer.from(JSON.stringify(result.output));
  if (output.length <= BLOCK_LIMIT) return { ...result, content };
  return { ...result, content, output: { blob: await put(output, 'application/json') } };
}

import type { BlobRef, ContentBlock } from '@jetloop/contracts';
import type { EvaluationContext } from '../policy/policy.js';

/** Every text of a content that a model would read, the ones kept in the blob store too. */
export async function textsOf(
  content: readonly ContentBlock[],
  context: Pick<EvaluationContext, 'readBlob'>,
): Promise<string[]> {
  const texts: string[] = [];
  for (const block of content) texts.push(...(await textsOfBlock(block, context)));
  return texts;
}

async function textsOfBlock(block: ContentBlock, context: Pick<EvaluationContext, 'readBlob'>): Promise<string[]> {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return [block.text];
    case 'tool-call':
      return [block.name, block.arguments];
    case 'resource':
      return [block.uri, block.text ?? '', ...(block.blob ? await readText(block.blob, context) : [])];
    case 'json':
      return [JSON.stringify(block.value)];
    case 'image':
      return [];
    case 'blob':
      return readText(block.blob, context);
  }
}

/** The text of a blob; none for one of a medium that holds no text. */
export async function readText(blob: BlobRef, context: Pick<EvaluationContext, 'readBlob'>): Promise<string[]> {
  if (/^(?:image|audio|video)\//.test(blob.mediaType)) return [];
  return [new TextDecoder().decode(await context.readBlob(blob))];
}

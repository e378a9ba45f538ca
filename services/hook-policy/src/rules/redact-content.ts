import type { ContentBlock, InputBlock, Json } from '@jetloop/contracts';
import { PolicyError } from '../policy/policy-error.js';
import type { EvaluationContext } from '../policy/policy.js';
import { readText } from './content-text.js';

export type Redact = (text: string) => string;
type Blobs = Pick<EvaluationContext, 'readBlob'>;

/** A JSON value with all its texts redacted, the keys too. */
export function redactJson(value: Json, redact: Redact): Json {
  if (typeof value === 'string') return redact(value);
  if (Array.isArray(value)) return value.map((item) => redactJson(item, redact));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [redact(key), redactJson(item, redact)]));
}

/** A prompt's content redacted. @throws PolicyError when a secret stands where it cannot be taken out */
export const redactInput = (content: readonly InputBlock[], redact: Redact, blobs: Blobs): Promise<InputBlock[]> =>
  Promise.all(content.map((block) => redactInputBlock(block, redact, blobs)));

/** A tool result's content redacted. @throws PolicyError when a secret stands where it cannot be taken out */
export const redactResult = (content: readonly ContentBlock[], redact: Redact, blobs: Blobs): Promise<ContentBlock[]> =>
  Promise.all(
    content.map((block): Promise<ContentBlock> => {
      if (block.type === 'reasoning') return Promise.resolve({ ...block, text: redact(block.text) });
      if (block.type === 'tool-call') return Promise.resolve({ ...block, arguments: redact(block.arguments) });
      return redactInputBlock(block, redact, blobs);
    }),
  );

async function redactInputBlock(block: InputBlock, redact: Redact, blobs: Blobs): Promise<InputBlock> {
  switch (block.type) {
    case 'text':
      return { ...block, text: redact(block.text) };
    case 'json':
      return { ...block, value: redactJson(block.value, redact) };
    case 'image':
      return block;
    case 'resource': {
      if (block.blob) await refuseSecretIn(await readText(block.blob, blobs), redact);
      return { ...block, uri: redact(block.uri), ...(block.text !== undefined && { text: redact(block.text) }) };
    }
    case 'blob': {
      const texts = await readText(block.blob, blobs);
      const [text] = texts;
      if (text === undefined || redact(text) === text) return block;
      if (block.of === 'text') return { type: 'text', text: redact(text) };
      return refuseSecretIn(texts, redact).then(() => block);
    }
  }
}

async function refuseSecretIn(texts: readonly string[], redact: Redact): Promise<void> {
  if (texts.every((text) => redact(text) === text)) return Promise.resolve();
  return Promise.reject(
    new PolicyError('secret_in_blob', 'a secret stands in a stored content that is no text and cannot be redacted'),
  );
}

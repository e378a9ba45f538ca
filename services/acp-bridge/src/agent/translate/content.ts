import type { ContentBlock as AcpContent } from '@agentclientprotocol/sdk';
import type { ContentBlock, InputBlock } from '@jetloop/contracts';

/** A block of the log as an editor takes it; undefined for what is told otherwise (reasoning, tool calls). */
export function toAcpContent(block: ContentBlock): AcpContent | undefined {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'json':
      return { type: 'text', text: JSON.stringify(block.value) };
    case 'image':
      return imageContent(block);
    case 'resource':
      return resourceContent(block);
    case 'blob': {
      const { digest, size, mediaType } = block.blob;
      return { type: 'resource_link', uri: `jetloop-blob:${digest}`, name: block.of, mimeType: mediaType, size };
    }
    case 'reasoning':
    case 'tool-call':
      return undefined;
  }
}

function imageContent({ base64, mediaType, url }: Extract<ContentBlock, { type: 'image' }>): AcpContent {
  if (base64 === undefined) return { type: 'resource_link', uri: url ?? '', name: 'image', mimeType: mediaType };
  return { type: 'image', data: base64, mimeType: mediaType, ...(url === undefined ? {} : { uri: url }) };
}

function resourceContent({ uri, mediaType, text, blob }: Extract<ContentBlock, { type: 'resource' }>): AcpContent {
  const mimeType = mediaType === undefined ? {} : { mimeType: mediaType };
  if (text !== undefined) return { type: 'resource', resource: { uri, text, ...mimeType } };
  const name = uri.split('/').at(-1) ?? uri;
  return { type: 'resource_link', uri, name, ...mimeType, ...(blob ? { size: blob.size } : {}) };
}

/** A block that the log has no place for. */
export class UnsupportedContentError extends Error {
  override readonly name = 'UnsupportedContentError';
}

/** What an editor says, as blocks of a prompt. @throws UnsupportedContentError for audio and embedded bytes */
export function fromAcpContent(content: readonly AcpContent[]): InputBlock[] {
  return content.map((block, index): InputBlock => {
    switch (block.type) {
      case 'text':
        return { type: 'text', text: block.text };
      case 'image':
        return {
          type: 'image',
          mediaType: block.mimeType,
          base64: block.data,
          ...(block.uri == null ? {} : { url: block.uri }),
        };
      case 'resource_link':
        return { type: 'resource', uri: block.uri, ...mediaTypeOf(block) };
      case 'resource': {
        const { resource } = block;
        if ('text' in resource)
          return { type: 'resource', uri: resource.uri, ...mediaTypeOf(resource), text: resource.text };
        throw new UnsupportedContentError(
          `prompt.${index}: an embedded resource must be text: put bytes into a file of the workspace and link it`,
        );
      }
      case 'audio':
        throw new UnsupportedContentError(`prompt.${index}: audio is not supported: this agent does not announce it`);
    }
  });
}

function mediaTypeOf({ mimeType }: { readonly mimeType?: string | null }): { mediaType?: string } {
  return mimeType == null ? {} : { mediaType: mimeType };
}

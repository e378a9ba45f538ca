import type { ContentBlock, DerivedMessage } from '@jetloop/contracts';
import type { ToolSchema } from '../adapter/part.js';

const CHARACTERS_A_TOKEN = 4;

/** Low estimate of a prompt: its text alone, images not counted. */
export function estimateTokens(request: {
  readonly systemPrompt: string;
  readonly messages: readonly DerivedMessage[];
  readonly tools: readonly ToolSchema[];
}): number {
  const { systemPrompt, messages, tools } = request;
  const said = messages.reduce((sum, { content }) => sum + charactersOf(content), 0);
  const offered = tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  return Math.floor((systemPrompt.length + said + offered) / CHARACTERS_A_TOKEN);
}

/** Estimate of an answer of which the provider gave no count. */
export function estimateAnswer(content: readonly ContentBlock[]): number {
  return Math.ceil(charactersOf(content) / CHARACTERS_A_TOKEN);
}

function charactersOf(content: readonly ContentBlock[]): number {
  return content.reduce((sum, block) => sum + blockCharacters(block), 0);
}

function blockCharacters(block: ContentBlock): number {
  switch (block.type) {
    case 'text':
    case 'reasoning':
      return block.text.length;
    case 'tool-call':
      return block.name.length + block.arguments.length;
    case 'json':
      return JSON.stringify(block.value).length;
    case 'resource':
      return block.text?.length ?? 0;
    case 'image':
    case 'blob':
      return 0;
  }
}

import type { ContentBlock, DerivedMessage } from '@jetloop/contracts';
import { charactersOf } from '@jetloop/session';
import type { ToolSchema } from '../adapter/part.js';

const CHARACTERS_A_TOKEN = 4;
/** Images and what is kept elsewhere: the estimate is a low one. */
const NOT_COUNTED = 0;

/** Low estimate of a prompt: its text alone, images not counted. */
export function estimateTokens(request: {
  readonly systemPrompt: string;
  readonly messages: readonly DerivedMessage[];
  readonly tools: readonly ToolSchema[];
}): number {
  const { systemPrompt, messages, tools } = request;
  const said = messages.reduce((sum, { content }) => sum + charactersOf(content, NOT_COUNTED), 0);
  const offered = tools.reduce((sum, tool) => sum + JSON.stringify(tool).length, 0);
  return Math.floor((systemPrompt.length + said + offered) / CHARACTERS_A_TOKEN);
}

/** Estimate of an answer of which the provider gave no count. */
export function estimateAnswer(content: readonly ContentBlock[]): number {
  return Math.ceil(charactersOf(content, NOT_COUNTED) / CHARACTERS_A_TOKEN);
}

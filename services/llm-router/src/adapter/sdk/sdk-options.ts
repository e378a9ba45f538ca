import type { LanguageModelV4CallOptions, LanguageModelV4FunctionTool } from '@ai-sdk/provider';
import { z } from 'zod';
import type { ToolNames } from '../../history/tool-names.js';
import type { ModelRequest } from '../adapter.js';
import type { SdkDialect } from './sdk-dialect.js';
import { sdkPrompt } from './sdk-prompt.js';

type JsonSchema = LanguageModelV4FunctionTool['inputSchema'];
/** Schemas come from tools and callers; the providers judge them. */
const jsonSchema = z.custom<JsonSchema>((value) => typeof value === 'object' && value !== null);

/** What an SDK is asked with. With `output` no tools are told of, ever (spec 4.3). */
export function sdkOptions(request: ModelRequest, names: ToolNames, dialect: SdkDialect): LanguageModelV4CallOptions {
  const { target, tools, output } = request;
  const maxOutputTokens = request.maxTokens ?? target.maxTokens;
  // Thinking goes with the state of the thoughts before; a repaired call has none.
  const isThinking = (request.thinking ?? target.thinking ?? false) && request.withoutReasoningState !== true;
  return {
    prompt: sdkPrompt(request, names, dialect.name),
    ...(maxOutputTokens === undefined ? {} : { maxOutputTokens }),
    ...dialect.options(request, isThinking),
    ...(output
      ? { responseFormat: { type: 'json', schema: jsonSchema.parse(output.schema) } }
      : tools.length > 0
        ? { tools: tools.map((tool) => sdkTool(tool, names)), toolChoice: { type: 'auto' } }
        : {}),
  };
}

function sdkTool({ name, description, inputSchema }: ModelRequest['tools'][number], names: ToolNames) {
  const tool: LanguageModelV4FunctionTool = {
    type: 'function',
    name: names.toWire(name),
    description,
    inputSchema: jsonSchema.parse(inputSchema),
  };
  return tool;
}

import type { ToolNames } from '../../history/tool-names.js';
import type { ModelRequest } from '../adapter.js';
import { chatMessages } from './chat-messages.js';

/** The body of POST /chat/completions. With `output` no tools are told of, ever (spec 4.3). */
export function chatBody(request: ModelRequest, names: ToolNames): Record<string, unknown> {
  const { target, tools, output } = request;
  const temperature = request.temperature ?? target.temperature;
  const maxTokens = request.maxTokens ?? target.maxTokens;
  // OpenAI's newer models refuse the old name, everybody else knows it.
  const maxTokensField = target.provider.toLowerCase() === 'openai' ? 'max_completion_tokens' : 'max_tokens';
  return {
    model: target.model,
    messages: chatMessages(request, names),
    ...(target.stream ? { stream: true, stream_options: { include_usage: true } } : { stream: false }),
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { [maxTokensField]: maxTokens }),
    ...(output
      ? { response_format: { type: 'json_schema', json_schema: { name: 'output', schema: output.schema } } }
      : tools.length > 0
        ? { tools: tools.map((tool) => wireTool(tool, names)) }
        : {}),
  };
}

function wireTool({ name, description, inputSchema }: ModelRequest['tools'][number], names: ToolNames) {
  return { type: 'function', function: { name: names.toWire(name), description, parameters: inputSchema } };
}

import { z } from 'zod';
import { duplicateOf, firstProblem, imageProblem, WIRE_NAME } from './strict-rules.js';

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  image_url: z.looseObject({ url: z.string() }).optional(),
});
const call = z.looseObject({ id: z.string(), function: z.looseObject({ name: z.string(), arguments: z.string() }) });
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(call).optional(),
  tool_call_id: z.string().optional(),
});
const body = z.looseObject({
  messages: z.array(message),
  tools: z.array(z.looseObject({ function: z.looseObject({ name: z.string() }) })).optional(),
});
type Message = z.infer<typeof message>;

/** What strict servers of chat completions refuse. */
export function chatProblem(request: unknown): string | undefined {
  const parsed = body.safeParse(request);
  if (!parsed.success) return 'expected a list of messages';
  const { messages, tools = [] } = parsed.data;
  const badTool = tools.find((tool) => !WIRE_NAME.test(tool.function.name));
  if (badTool) return `tools: ${badTool.function.name} does not match ${WIRE_NAME.source}`;
  let open: string[] = [];
  for (const [at, entry] of messages.entries()) {
    const wrong = contentProblem(entry) ?? callProblem(entry) ?? neighbourProblem(entry, messages[at - 1]);
    if (wrong !== undefined) return `messages.${at}: ${wrong}`;
    if (entry.role === 'tool') {
      const id = entry.tool_call_id ?? '(none)';
      if (!open.includes(id))
        return `messages.${at}: tool result ${id} does not answer a call of the message before it`;
      open = open.filter((waiting) => waiting !== id);
    } else if (open.length > 0) {
      return `messages.${at}: tool calls without results: ${open.join(', ')}`;
    }
    if (entry.role === 'assistant') open = (entry.tool_calls ?? []).map(({ id }) => id);
    if (duplicateOf(open) !== undefined) return `messages.${at}: two tool calls with one id`;
  }
  return open.length > 0 ? `tool calls without results: ${open.join(', ')}` : undefined;
}

function contentProblem({ role, content, tool_calls: calls }: Message): string | undefined {
  if (typeof content === 'string') return content.trim() === '' ? `${role} content must be non-empty` : undefined;
  if (Array.isArray(content)) {
    if (content.length === 0) return `${role} content must be non-empty`;
    return firstProblem(content, ({ type, text, image_url: image }) => {
      if (type === 'text') return (text ?? '').trim() === '' ? 'text content blocks must be non-empty' : undefined;
      const [, mediaType, data] = /^data:([^;]+);base64,(.*)$/s.exec(image?.url ?? '') ?? [];
      return mediaType !== undefined && data !== undefined ? imageProblem(mediaType, data) : undefined;
    });
  }
  return role === 'assistant' && calls && calls.length > 0 ? undefined : `${role} content is missing`;
}

function callProblem({ tool_calls: calls = [] }: Message): string | undefined {
  return firstProblem(calls, ({ function: { name, arguments: text } }) => {
    if (!WIRE_NAME.test(name)) return `${name} does not match ${WIRE_NAME.source}`;
    return isObject(text) ? undefined : `the arguments of ${name} are not a JSON object`;
  });
}

function neighbourProblem({ role }: Message, before: Message | undefined): string | undefined {
  return role !== 'tool' && before?.role === role ? `two ${role} messages behind each other` : undefined;
}

function isObject(text: string): boolean {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value);
  } catch {
    return false; // that it is no JSON is the finding
  }
}

import { z } from 'zod';

const part = z.looseObject({
  type: z.string(),
  text: z.string().optional(),
  id: z.string().optional(),
  tool_use_id: z.string().optional(),
});
const message = z.looseObject({
  role: z.string(),
  content: z.union([z.string(), z.array(part)]).nullish(),
  tool_calls: z.array(z.looseObject({ id: z.string() })).optional(),
  tool_call_id: z.string().optional(),
});
const body = z.looseObject({ messages: z.array(message) });
type Message = z.infer<typeof message>;

/** What a strict provider would refuse about a conversation; undefined: nothing. Chat and Anthropic shapes. */
export function historyProblem(request: unknown): string | undefined {
  const parsed = body.safeParse(request);
  if (!parsed.success) return 'expected a list of messages';
  let open: string[] = [];
  for (const [at, entry] of parsed.data.messages.entries()) {
    const blank = blankProblem(entry);
    if (blank !== undefined) return `messages.${at}: ${blank}`;
    const results = resultsOf(entry);
    for (const id of results) {
      if (!open.includes(id))
        return `messages.${at}: tool result ${id} does not answer a call of the message before it`;
      open = open.filter((waiting) => waiting !== id);
    }
    const mayWait = entry.role === 'tool';
    if (open.length > 0 && !mayWait) return `messages.${at}: tool calls without results: ${open.join(', ')}`;
    if (entry.role === 'assistant') open = callsOf(entry);
    if (new Set(open).size !== open.length) return `messages.${at}: two tool calls with one id`;
  }
  return open.length > 0 ? `tool calls without results: ${open.join(', ')}` : undefined;
}

function blankProblem({ role, content, tool_calls: calls }: Message): string | undefined {
  if (typeof content === 'string') return content.trim() === '' ? `${role} content must be non-empty` : undefined;
  if (Array.isArray(content)) {
    if (content.length === 0) return `${role} content must be non-empty`;
    return content.some(({ type, text }) => type === 'text' && (text ?? '').trim() === '')
      ? 'text content blocks must be non-empty'
      : undefined;
  }
  return role === 'assistant' && calls && calls.length > 0 ? undefined : `${role} content is missing`;
}

function resultsOf({ role, content, tool_call_id: id }: Message): string[] {
  if (role === 'tool') return [id ?? '(none)'];
  return Array.isArray(content)
    ? content.flatMap((block) => (block.type === 'tool_result' ? [block.tool_use_id ?? '(none)'] : []))
    : [];
}

function callsOf({ content, tool_calls: calls = [] }: Message): string[] {
  const blocks = Array.isArray(content) ? content.filter((block) => block.type === 'tool_use') : [];
  return [...calls.map(({ id }) => id), ...blocks.map(({ id }) => id ?? '(none)')];
}

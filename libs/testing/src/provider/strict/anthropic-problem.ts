import { z } from 'zod';
import { duplicateOf, firstProblem, imageProblem, WIRE_NAME } from './strict-rules.js';

const cached = z.looseObject({ cache_control: z.looseObject({ type: z.literal('ephemeral') }).optional() });
const text = cached.extend({ type: z.literal('text'), text: z.string() });
const image = cached.extend({
  type: z.literal('image'),
  source: z.union([
    z.looseObject({ type: z.literal('base64'), media_type: z.string(), data: z.string() }),
    z.looseObject({ type: z.literal('url'), url: z.string() }),
  ]),
});
const block = z.discriminatedUnion('type', [
  text,
  image,
  z.looseObject({ type: z.literal('thinking'), thinking: z.string(), signature: z.string().min(1) }),
  z.looseObject({ type: z.literal('redacted_thinking'), data: z.string().min(1) }),
  cached.extend({
    type: z.literal('tool_use'),
    id: z.string(),
    name: z.string(),
    input: z.record(z.string(), z.unknown()),
  }),
  cached.extend({
    type: z.literal('tool_result'),
    tool_use_id: z.string(),
    content: z.union([z.string(), z.array(z.union([text, image]))]),
    is_error: z.boolean().optional(),
  }),
]);
type Block = z.output<typeof block>;
const message = z.object({ role: z.enum(['user', 'assistant']), content: z.array(block) });
type Message = z.output<typeof message>;
const request = z.looseObject({
  model: z.string(),
  max_tokens: z.number().int().positive(),
  messages: z.array(message).min(1),
  system: z.array(text).optional(),
  tools: z.array(z.looseObject({ name: z.string(), input_schema: z.looseObject({ type: z.string() }) })).optional(),
  temperature: z.number().min(0).max(1).optional(),
  thinking: z.looseObject({ type: z.string() }).optional(),
});

/** What Anthropic's messages refuse. */
export function anthropicProblem(body: unknown): string | undefined {
  const parsed = request.safeParse(body);
  if (!parsed.success) return `${parsed.error.issues[0]?.path.join('.')}: ${parsed.error.issues[0]?.message}`;
  const { messages, tools = [], thinking, temperature, system = [] } = parsed.data;
  const isThinking = thinking !== undefined && thinking.type !== 'disabled';
  if (isThinking && temperature !== undefined && temperature !== 1) {
    return '`temperature` may only be set to 1 when thinking is enabled';
  }
  if (messages[0]?.role !== 'user') return 'messages: first message must use the "user" role';
  if (messages.at(-1)?.role !== 'user') return 'messages: the conversation must end with a user message';
  const all = [...system, ...messages.flatMap(({ content }) => content)];
  if (all.filter((item) => 'cache_control' in item && item.cache_control).length > 4) {
    return 'A maximum of 4 blocks with cache_control may be provided';
  }
  if (system.some((item) => item.text.trim() === '')) return 'system: text content blocks must be non-empty';
  const badTool = tools.find(({ name }) => !WIRE_NAME.test(name));
  if (badTool) return `tools: ${badTool.name} does not match ${WIRE_NAME.source}`;
  return firstProblem(messages, (entry, at) => {
    const problem = messageProblem(entry, messages[at - 1], messages[at + 1]);
    return problem === undefined ? undefined : `messages.${at}: ${problem}`;
  });
}

function messageProblem(
  { role, content }: Message,
  before: Message | undefined,
  after: Message | undefined,
): string | undefined {
  if (before?.role === role) return 'roles must alternate between "user" and "assistant"';
  if (content.length === 0) return `${role} messages must have non-empty content`;
  if (content.at(-1)?.type.endsWith('thinking')) return 'The final block in an assistant message cannot be `thinking`';
  const calls = callsOf(content);
  const open = before ? callsOf(before.content) : [];
  const results = content.flatMap((item) => (item.type === 'tool_result' ? [item.tool_use_id] : []));
  const twice = duplicateOf(calls) ?? duplicateOf(results);
  if (twice !== undefined) return `\`tool_use\` ids must be unique: ${twice}`;
  const orphan = results.find((id) => !open.includes(id));
  if (orphan !== undefined) return `unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${orphan}`;
  const missing = calls.find((id) => !(after?.content ?? []).some((item) => isResultOf(item, id)));
  if (missing !== undefined)
    return `\`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${missing}`;
  if (
    content.findLastIndex(({ type }) => type === 'tool_result') >= Math.max(1, results.length) &&
    results.length > 0
  ) {
    return '`tool_result` blocks must come first';
  }
  return firstProblem(content, (item) => blockProblem(item, role));
}

function blockProblem(item: Block, role: Message['role']): string | undefined {
  switch (item.type) {
    case 'text':
      return item.text.trim() === '' ? 'text content blocks must be non-empty' : undefined;
    case 'image':
      return item.source.type === 'base64' ? imageProblem(item.source.media_type, item.source.data) : undefined;
    case 'tool_use':
      if (role !== 'assistant') return '`tool_use` blocks can only be in `assistant` messages';
      return WIRE_NAME.test(item.name) && WIRE_NAME.test(item.id)
        ? undefined
        : `tool_use ${item.name} ${item.id}: bad name`;
    case 'tool_result': {
      if (role !== 'user') return '`tool_result` blocks can only be in `user` messages';
      const inside = typeof item.content === 'string' ? [{ type: 'text' as const, text: item.content }] : item.content;
      return inside.length === 0 ? 'empty `tool_result`' : firstProblem(inside, (part) => blockProblem(part, role));
    }
    case 'thinking':
    case 'redacted_thinking':
      return role === 'assistant' ? undefined : 'thinking blocks can only be in `assistant` messages';
  }
}

function callsOf(content: readonly Block[]): string[] {
  return content.flatMap((item) => (item.type === 'tool_use' ? [item.id] : []));
}

function isResultOf(item: Block, id: string): boolean {
  return item.type === 'tool_result' && item.tool_use_id === id;
}

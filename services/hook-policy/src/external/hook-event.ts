import type { ContentBlock, Json, Seam, SeamSubject } from '@jetloop/contracts';
import type { EvaluationContext } from '../policy/policy.js';
import { readText, textsOf } from '../rules/content-text.js';

/** The seams in the dialect's words. It knows no event before a step: `PreStep` is ours. */
export const hookEventNames = {
  'session-start': 'SessionStart',
  'prompt-submit': 'UserPromptSubmit',
  'pre-step': 'PreStep',
  'pre-tool': 'PreToolUse',
  'post-tool': 'PostToolUse',
  'turn-continuation': 'Stop',
  'pre-compact': 'PreCompact',
} as const satisfies Record<Seam, string>;

export interface HookEventOptions {
  /** Name of the policy that asks. */
  readonly policy: string;
  /** Whether the conversation goes along at pre-step. */
  readonly messages: boolean;
}

/**
 * What an external hook is told: the dialect's fields at the top, what only Jetloop knows under `jetloop`.
 * Texts that are kept in the blob store are in it.
 */
export async function hookEventOf(
  subject: SeamSubject,
  context: EvaluationContext,
  { policy, messages }: HookEventOptions,
): Promise<object> {
  const { tenant, session, turn, step, commandId } = context;
  const { seam, agent, workspace } = subject;
  const parts = await partsOf(subject, context, messages);
  return {
    hook_event_name: hookEventNames[seam],
    session_id: session,
    cwd: workspace ?? '',
    ...parts.dialect,
    jetloop: { policy, seam, tenant, agent, turn, step, commandId, ...parts.ours },
  };
}

interface Parts {
  readonly dialect: Readonly<Record<string, unknown>>;
  readonly ours?: Readonly<Record<string, unknown>>;
}

async function partsOf(subject: SeamSubject, context: EvaluationContext, messages: boolean): Promise<Parts> {
  switch (subject.seam) {
    case 'session-start':
      return { dialect: { source: subject.source } };
    case 'prompt-submit': {
      const { messageId, content, source } = subject;
      const prompt = (await textsOf(content, context)).join('\n');
      return { dialect: { prompt }, ours: { messageId, source, content: await withTexts(content, context) } };
    }
    case 'pre-step': {
      const { estimatedTokens } = subject;
      return { dialect: {}, ours: { estimatedTokens, ...(messages && { messages: await context.messages() }) } };
    }
    case 'pre-tool': {
      const { n, tool, callsBefore } = subject;
      return { dialect: callOf(subject), ours: { n, tool, callsBefore } };
    }
    case 'post-tool': {
      const content = await withTexts(subject.result.content, context);
      return { dialect: { ...callOf(subject), tool_response: { ...subject.result, content } }, ours: { n: subject.n } };
    }
    case 'turn-continuation': {
      const { forced, default: otherwise } = subject;
      return { dialect: { stop_hook_active: forced > 0 }, ours: { default: otherwise, forced } };
    }
    case 'pre-compact': {
      const { from, to, estimatedTokens } = subject;
      return { dialect: { trigger: 'auto', custom_instructions: '' }, ours: { from, to, estimatedTokens } };
    }
  }
}

function callOf(call: { name: string; callId: string; arguments: Readonly<Record<string, Json>> | null }) {
  return { tool_name: call.name, tool_input: call.arguments ?? {}, tool_use_id: call.callId };
}

/** The content with the texts of the blob store in place: what a hook cannot see, it cannot judge. */
async function withTexts(content: readonly ContentBlock[], context: EvaluationContext): Promise<ContentBlock[]> {
  const blocks: ContentBlock[] = [];
  for (const block of content) {
    const blob = 'blob' in block ? block.blob : undefined;
    const [text] = blob ? await readText(blob, context) : [];
    if (text === undefined) blocks.push(block);
    else if (block.type === 'resource') blocks.push({ ...block, text });
    else blocks.push({ type: 'text', text });
  }
  return blocks;
}

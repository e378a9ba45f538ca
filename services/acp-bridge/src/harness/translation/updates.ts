import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable';
import { z } from 'zod';

const text = z.string();
/** Also one that JSON cannot write back: what becomes of it is decided where it is kept. */
const number = z.custom<number>((value) => typeof value === 'number');
const list = z.array(z.unknown());
const callId = z.string();
const status = z.enum(['pending', 'in_progress', 'completed', 'failed']).nullish();

/** What each tag of the protocol must hold to be what it says; `unmapped`: known, and nothing of ours corresponds to it. */
const updates = {
  agent_message_chunk: z.looseObject({ content: z.looseObject({}) }),
  agent_thought_chunk: z.looseObject({ content: z.looseObject({}) }),
  user_message_chunk: z.looseObject({ content: z.looseObject({}) }),
  tool_call: z.looseObject({ toolCallId: callId, title: text, status }),
  tool_call_update: z.looseObject({ toolCallId: callId, status }),
  plan: z.looseObject({ entries: list }),
  usage_update: z.looseObject({ used: number, size: number }),
  session_info_update: z.looseObject({}),
  current_mode_update: z.looseObject({ currentModeId: text }),
  config_option_update: z.looseObject({ configOptions: list }),
  available_commands_update: z.looseObject({ availableCommands: list }),
  notice: 'unmapped',
  compaction_update: 'unmapped',
  compaction_summary_chunk: 'unmapped',
  plan_update: 'unmapped',
  plan_removed: 'unmapped',
  subagent_update: 'unmapped',
  session_message: 'unmapped',
  session_message_chunk: 'unmapped',
} as const satisfies Record<SessionUpdate['sessionUpdate'], z.ZodType | 'unmapped'>;

/** Tags of updates that have a translation. */
export type MappedTag = {
  [T in keyof typeof updates]: (typeof updates)[T] extends 'unmapped' ? never : T;
}[keyof typeof updates];

/** What an update is by its tag and fields. */
export function readTag(update: { readonly sessionUpdate?: unknown }): MappedTag | 'unrecognised' | 'undecodable' {
  const tag = update.sessionUpdate;
  if (typeof tag !== 'string' || !isTag(tag)) return 'undecodable';
  const schema = updates[tag];
  if (schema === 'unmapped') return 'unrecognised';
  return schema.safeParse(update).success ? (tag as MappedTag) : 'undecodable';
}

function isTag(tag: string): tag is keyof typeof updates {
  return Object.hasOwn(updates, tag);
}

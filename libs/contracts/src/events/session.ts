import { z } from 'zod';
import { agentSpecSchema } from '../agent.js';
import { contentBlockSchema } from '../content.js';

/** A message as the model sees it: what a fork begins with and what adapters are given. */
export const derivedMessageSchema = z.object({
  role: z.enum(['user', 'assistant', 'tool']),
  content: z.array(contentBlockSchema),
  /** role tool: the call this is the result of. */
  callId: z.string().optional(),
  name: z.string().optional(),
  isError: z.boolean().optional(),
  /** role assistant: the dialect and model that wrote it. */
  model: z.object({ target: z.string(), model: z.string() }).optional(),
});
export type DerivedMessage = z.infer<typeof derivedMessageSchema>;

export const sessionEvents = {
  'session.created': z.object({
    agent: agentSpecSchema,
    source: z.enum(['startup', 'fork']),
    parent: z
      .object({ session: z.string(), sequence: z.number().optional(), callId: z.string().optional() })
      .optional(),
    history: z.array(derivedMessageSchema).optional(),
    workspace: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
    /** Set when policies are asked before the first turn. */
    asks: z.literal('session-start').optional(),
  }),
  'session.resumed': z.object({ by: z.string().optional(), asks: z.literal('session-start').optional() }),
  'session.mode': z.object({ mode: z.string(), by: z.string() }),
  'session.closed': z.object({ reason: z.string() }),
  'tools.listed': z.object({
    digest: z.string(),
    tools: z.array(
      z.object({ name: z.string(), readonly: z.boolean(), idempotent: z.boolean(), schemaHash: z.string() }),
    ),
    unavailable: z.array(z.object({ name: z.string(), reason: z.string() })).optional(),
  }),
} as const;

import { z } from 'zod';

/** What a worker is started with. */
export interface WorkerTask {
  readonly modules: readonly string[];
  /** Where paths of modules begin. */
  readonly folder: string;
}

/** Of the context of a call, what can be handed to a thread. */
export interface CallFacts {
  readonly tenant: string;
  readonly session: string;
  readonly callId: string;
  readonly effectId: string;
  readonly workspace: { readonly root: string; readonly alias: string };
  readonly sandbox: 'none' | 'bubblewrap';
  readonly limitMs: number;
}

/** To a worker. `call` counts the calls of one worker. */
export type ToWorker =
  | {
      readonly type: 'run';
      readonly call: number;
      readonly tool: string;
      readonly args: Record<string, unknown>;
      readonly facts: CallFacts;
    }
  | { readonly type: 'abort'; readonly call: number; readonly reason: SentError };

const sentError = z.object({
  name: z.string(),
  message: z.string(),
  code: z.string().optional(),
  /** Of the system's own errors. */
  syscall: z.string().optional(),
  /** Whether the tool foresaw it: a ToolError. */
  isForeseen: z.boolean(),
});
export type SentError = z.output<typeof sentError>;

const call = z.number();
/** From a worker: plugged-in code runs beside what sends it. */
export const fromWorker = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready') }),
  z.object({ type: z.literal('progress'), call, text: z.string() }),
  z.object({
    type: z.literal('log'),
    call,
    level: z.enum(['info', 'warn']),
    message: z.string(),
    fields: z.record(z.string(), z.unknown()).optional(),
  }),
  z.object({ type: z.literal('returned'), call, value: z.unknown() }),
  z.object({ type: z.literal('thrown'), call, error: sentError }),
]);
export type FromWorker = z.input<typeof fromWorker>;

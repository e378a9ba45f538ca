import { jsonSchema, type Seam } from '@jetloop/contracts';
import { z } from 'zod';
import { hookEventNames } from './hook-event.js';

const text = z.string().optional();

/** The dialect's answer, all seams together. Strict: a misspelled field must not turn a refusal into consent. */
const answerSchema = z.strictObject({
  continue: z.boolean().optional(),
  stopReason: text,
  /** Known, and without effect here: hooks write to nobody's screen. */
  suppressOutput: z.boolean().optional(),
  systemMessage: text,
  decision: z.enum(['approve', 'block'], 'expected approve or block').optional(),
  reason: text,
  hookSpecificOutput: z
    .strictObject({
      hookEventName: text,
      additionalContext: text,
      permissionDecision: z.enum(['allow', 'deny', 'ask'], 'expected allow, deny or ask').optional(),
      permissionDecisionReason: text,
      updatedInput: z.record(z.string(), jsonSchema).optional(),
    })
    .optional(),
  /** A decision in Jetloop's own words, in place of all others. */
  jetloop: z.unknown().optional(),
});
export type HookAnswer = z.infer<typeof answerSchema>;

const contextSeams: readonly Seam[] = ['session-start', 'prompt-submit', 'pre-step', 'pre-tool', 'post-tool'];
const callSeams: readonly Seam[] = ['pre-tool'];
const blockSeams: readonly Seam[] = ['prompt-submit', 'pre-tool', 'post-tool', 'turn-continuation', 'pre-compact'];
/** Fields that not every seam knows. */
const specific = {
  additionalContext: contextSeams,
  permissionDecision: callSeams,
  permissionDecisionReason: callSeams,
  updatedInput: callSeams,
} as const;

/** What a hook may answer at a seam. */
export const hookAnswerSchema = (seam: Seam) =>
  answerSchema.superRefine((answer, context) => {
    const { hookSpecificOutput: output = {}, ...rest } = answer;
    const report = (message: string, ...path: string[]): void => {
      context.addIssue({ code: 'custom', path, message });
    };
    const name = hookEventNames[seam];
    if (output.hookEventName !== undefined && output.hookEventName !== name) {
      report(`expected "${name}"`, 'hookSpecificOutput', 'hookEventName');
    }
    for (const [field, known] of Object.entries(specific)) {
      if (field in output && !known.includes(seam)) report(`${seam} has no such field`, 'hookSpecificOutput', field);
    }
    if (!blockSeams.includes(seam)) {
      if (rest.decision === 'block') report(`${seam} cannot be blocked`, 'decision');
      if (rest.continue === false) report(`${seam} cannot be stopped`, 'continue');
    }
    if (rest.jetloop !== undefined && Object.keys(answer).length > 1) report('expected nothing beside it', 'jetloop');
  });

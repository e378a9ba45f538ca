import { requireToken, toolReplySchema } from '@jetloop/contracts';
import { z } from 'zod';
import { ApiError, type Bus } from '../connection/bus.js';
import { PublishRefusedError, TerminalError } from '../errors.js';

/** What the ledger knows of an effect. `run` tells one run from every other, so that a writer knows its own entry again. */
const effectEntrySchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('started'), run: z.string(), beat: z.number().int() }),
  z.object({ status: z.literal('done'), run: z.string(), result: toolReplySchema.shape.result }),
  z.object({ status: z.literal('unknown'), run: z.string() }),
]);
export type EffectEntry = z.infer<typeof effectEntrySchema>;

export interface StoredEffect {
  readonly entry: EffectEntry;
  /** What a change of the entry is checked against. */
  readonly revision: number;
}

const WRONG_LAST_SEQUENCES = [10071, 10164, 10163];
const NO_MESSAGE = 10037;

/**
 * The ledger of tool calls that must not run twice (KV bucket EFFECTS, spec 8.2). Every read is the leader's word. An entry goes
 * one hour after its last write.
 */
export class EffectStore {
  constructor(private readonly bus: Bus) {}

  async get(effectId: string): Promise<StoredEffect | undefined> {
    try {
      const { message } = await this.bus.api<{ message: { seq: number; data: string } }>('STREAM.MSG.GET.KV_EFFECTS', {
        last_by_subj: subjectOf(effectId),
      });
      const value: unknown = JSON.parse(Buffer.from(message.data, 'base64').toString('utf8'));
      return { entry: effectEntrySchema.parse(value), revision: message.seq };
    } catch (error) {
      if (error instanceof ApiError && error.code === NO_MESSAGE) return undefined;
      throw error;
    }
  }

  /**
   * Writes the entry if it is still at `revision` (0: not there).
   * @returns its new revision, or `moved` when it is not at that revision any more
   * @throws PublishUnknownError when no answer came: the entry may or may not be written
   */
  async put(effectId: string, entry: EffectEntry, revision: number): Promise<number | 'moved'> {
    try {
      const body = Buffer.from(JSON.stringify(entry));
      const headers = { 'Nats-Expected-Last-Subject-Sequence': String(revision) };
      return (await this.bus.publisher.publish(subjectOf(effectId), body, headers)).sequence;
    } catch (error) {
      if (error instanceof PublishRefusedError && WRONG_LAST_SEQUENCES.includes(error.code)) return 'moved';
      throw error;
    }
  }
}

/** `<tenant>.<session>.<turn>.<step>.<n>` is a key as it is. */
function subjectOf(effectId: string): string {
  const [tenant = '', session = '', ...position] = effectId.split('.');
  if (position.length !== 3 || !position.every((part) => /^\d+$/.test(part)))
    throw new TerminalError('invalid', `${effectId} is no effect id: expected <tenant>.<session>.<turn>.<step>.<n>`);
  return `$KV.EFFECTS.${requireToken('tenant', tenant)}.${requireToken('session', session)}.${position.join('.')}`;
}

import type { EventData } from '@jetloop/contracts';
import type { ConversationSize } from '../state.js';

/** The part of a conversation that stays as it is, at most. */
const KEPT_SHARE = 0.3;

/**
 * What a compaction replaces: everything up to a cut behind a step or a turn, so that calls and results stay together.
 * The last part stays as it is. Undefined: there is nothing that could be replaced.
 */
export function chooseRange({
  characters,
  cuts,
}: ConversationSize): EventData<'compaction.start'>['range'] | undefined {
  const cut = cuts.find((one) => characters - one.characters <= characters * KEPT_SHARE) ?? cuts.at(-1);
  return cut && { from: 0, to: cut.sequence };
}

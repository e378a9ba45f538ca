import { isKnownEvent, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';

/**
 * The order in which a turn tries its targets: the chain, rotated to begin with the target that answered last in this
 * turn. Pure, so that every replica goes on alike; the next turn starts from the chain again (spec 4.3).
 */
export function order(
  chain: readonly string[],
  events: readonly (RecordedEvent | UnknownEvent)[],
  turn: number,
): string[] {
  const last = events.findLast(
    (event) =>
      isKnownEvent(event) &&
      event.type === 'assistant.message' &&
      event.data.turn === turn &&
      event.data.model !== null,
  );
  const target = last && isKnownEvent(last) && last.type === 'assistant.message' ? last.data.model?.target : undefined;
  const at = target === undefined ? -1 : chain.indexOf(target);
  return at <= 0 ? [...chain] : [...chain.slice(at), ...chain.slice(0, at)];
}

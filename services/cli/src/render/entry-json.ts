import type { SessionEntry } from '@jetloop/client';

/** An event as the commands print it with `--json`: one object, what its commit says beside what it says itself. */
export function entryToJson({ event, at, causation, actor }: SessionEntry): Record<string, unknown> {
  const { sequence, type, version, correlationId, data } = event;
  const turn = correlationId === undefined ? {} : { correlationId };
  return { sequence, type, version, at, ...turn, causation, actor, data };
}

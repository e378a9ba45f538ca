import { z } from 'zod';
import { EVENT_VERSION, eventSchemas, isEventType, type SessionEvent } from './events/index.js';
import { assertJson } from './json.js';

/** An event in its place, its data unchecked. */
export const recordedEventSchema = z.object({
  sequence: z.number().int().min(0),
  type: z.string().min(1),
  version: z.number().int().min(1),
  correlationId: z.string().optional(),
  data: z.unknown(),
});

/** One message of JOURNAL: all events of one decision (spec 1.5). */
export const commitSchema = z.object({
  tenant: z.string(),
  session: z.string(),
  /** The id of the command that was decided. */
  causation: z.string(),
  actor: z.string(),
  /** RFC 3339. */
  at: z.string(),
  traceparent: z.string().optional(),
  events: z.array(recordedEventSchema).min(1),
});

/** An event in its place: `sequence` is its position in the session, from 0, contiguous. */
export type RecordedEvent = SessionEvent & {
  readonly sequence: number;
  readonly version: number;
  /** The turn, as text; absent outside a turn. */
  readonly correlationId?: string;
};

/** An event of a type or version that this build does not know: carried and projected as it came, never dropped. */
export interface UnknownEvent {
  readonly sequence: number;
  readonly type: string;
  readonly version: number;
  readonly correlationId?: string;
  readonly data: unknown;
}

export interface Commit {
  readonly tenant: string;
  readonly session: string;
  readonly causation: string;
  readonly actor: string;
  readonly at: string;
  readonly traceparent?: string;
  readonly events: readonly (RecordedEvent | UnknownEvent)[];
}

/** Narrows to events of known type and version, whose data was checked by `parseCommit`. */
export function isKnownEvent(event: RecordedEvent | UnknownEvent): event is RecordedEvent {
  return event.version === EVENT_VERSION && isEventType(event.type);
}

/** A stored commit that does not fit the contract. */
export class InvalidCommitError extends Error {
  override readonly name = 'InvalidCommitError';
}

/**
 * Checks a commit read from JOURNAL. What comes back is the value itself: unknown fields and types are kept.
 * @throws InvalidCommitError naming the place and what was expected
 */
export function parseCommit(value: unknown): Commit {
  const commit = parseCommitEnvelope(value);
  for (const event of commit.events) {
    if (event.version !== EVENT_VERSION || !isEventType(event.type)) continue;
    const data = eventSchemas[event.type].safeParse(event.data);
    if (!data.success) {
      throw new InvalidCommitError(`event ${event.sequence} ${event.type}: ${z.prettifyError(data.error)}`);
    }
  }
  return commit;
}

/**
 * Checks all of a commit but the data of its events: for one whose events were checked when it was written.
 * @throws InvalidCommitError naming the place and what was expected
 */
export function parseCommitEnvelope(value: unknown): Commit {
  const envelope = commitSchema.safeParse(value);
  if (!envelope.success) throw new InvalidCommitError(`commit: ${z.prettifyError(envelope.error)}`);
  return value as Commit;
}

/**
 * Checks an event at its writer: known type, data that fits, plain JSON only.
 * @throws InvalidCommitError | NotJsonError, naming the event type
 */
export function assertEvent(event: SessionEvent): void {
  assertJson(event.type, event.data);
  const data = eventSchemas[event.type].safeParse(event.data);
  if (!data.success) throw new InvalidCommitError(`event ${event.type}: ${z.prettifyError(data.error)}`);
}

import { z } from 'zod';
import { ApiError, type Bus } from '../connection/bus.js';
import { PublishRefusedError } from '../errors.js';
import type { EventsEnd } from './events-end.js';

const SUBJECT = '$KV.POSITIONS.events';
const NO_MESSAGE = 10037;
const WRONG_LAST_SEQUENCES = [10071, 10164];
const endSchema = z.object({
  sequence: z.number().int(),
  journal: z.object({ streamSequence: z.number().int(), index: z.number().int() }),
});

/** Where EVENTS ends, kept in POSITIONS for the time when age has emptied the stream (spec 1.5). */
export class EventsPosition {
  constructor(private readonly bus: Bus) {}

  async read(): Promise<EventsEnd | undefined> {
    return (await this.stored()).end;
  }

  /** Never moves it back: who slept since he read where the stream ends writes nothing. */
  async write(end: EventsEnd): Promise<void> {
    const { end: before, revision } = await this.stored();
    if (before && before.sequence >= end.sequence) return;
    try {
      await this.bus.publisher.publish(SUBJECT, Buffer.from(JSON.stringify(end)), {
        'Nats-Expected-Last-Subject-Sequence': String(revision),
      });
    } catch (error) {
      // Another unfolder wrote in between: it is the one who gets on, and writes again.
      if (!(error instanceof PublishRefusedError && WRONG_LAST_SEQUENCES.includes(error.code))) throw error;
    }
  }

  private async stored(): Promise<{ end?: EventsEnd; revision: number }> {
    try {
      const { message } = await this.bus.api<{ message: { seq: number; data?: string } }>(
        'STREAM.MSG.GET.KV_POSITIONS',
        { last_by_subj: SUBJECT },
      );
      const end = endSchema.safeParse(parsed(message.data ?? '')).data;
      return end ? { end, revision: message.seq } : { revision: message.seq };
    } catch (error) {
      if (error instanceof ApiError && error.code === NO_MESSAGE) return { revision: 0 };
      throw error;
    }
  }
}

function parsed(base64: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64, 'base64').toString('utf8'));
  } catch {
    return undefined; // a deleted or foreign value says nothing
  }
}

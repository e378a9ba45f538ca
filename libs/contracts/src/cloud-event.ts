import { z } from 'zod';
import type { Commit } from './commit.js';

/** One public event: CloudEvents 1.0, structured JSON (spec 1.5). */
export const cloudEventSchema = z.object({
  specversion: z.literal('1.0'),
  id: z.string(),
  source: z.string(),
  type: z.string(),
  subject: z.string(),
  time: z.string(),
  datacontenttype: z.literal('application/json'),
  dataschema: z.string(),
  tenant: z.string(),
  sequence: z.number().int(),
  causationid: z.string(),
  correlationid: z.string().optional(),
  traceparent: z.string().optional(),
  data: z.unknown(),
});
export type CloudEvent = z.infer<typeof cloudEventSchema>;

/** The public events of a commit, in order: a pure function of the journal. */
export function toCloudEvents(commit: Commit): CloudEvent[] {
  return commit.events.map((event) => ({
    specversion: '1.0',
    id: String(event.sequence),
    source: `/jetloop/${commit.tenant}/${commit.session}`,
    type: `jetloop.${event.type}`,
    subject: commit.session,
    time: commit.at,
    datacontenttype: 'application/json',
    dataschema: `urn:jetloop:event:${event.type}:${event.version}`,
    tenant: commit.tenant,
    sequence: event.sequence,
    causationid: commit.causation,
    ...(event.correlationId === undefined ? {} : { correlationid: event.correlationId }),
    ...(commit.traceparent === undefined ? {} : { traceparent: commit.traceparent }),
    data: event.data,
  }));
}

import type { Bus } from '@jetloop/messaging';

interface StreamInfo {
  readonly state: { readonly last_seq: number; readonly bytes: number };
}

/** What the streams have taken so far. */
export interface StreamCounts {
  readonly messages: {
    readonly journal: number;
    readonly commands: number;
    readonly events: number;
    readonly blobs: number;
  };
  /** Bytes that stay. Commands go once they are carried out. */
  readonly bytes: { readonly journal: number; readonly events: number; readonly blobs: number };
}

export async function streamCounts(bus: Bus): Promise<StreamCounts> {
  const [journal, commands, events, blobs] = await Promise.all([
    streamState(bus, 'JOURNAL'),
    streamState(bus, 'COMMANDS'),
    streamState(bus, 'EVENTS'),
    streamState(bus, 'OBJ_BLOBS'),
  ]);
  return {
    messages: {
      journal: journal.last_seq,
      commands: commands.last_seq,
      events: events.last_seq,
      blobs: blobs.last_seq,
    },
    bytes: { journal: journal.bytes, events: events.bytes, blobs: blobs.bytes },
  };
}

export async function streamState(bus: Bus, stream: string): Promise<StreamInfo['state']> {
  return (await bus.api<StreamInfo>(`STREAM.INFO.${stream}`)).state;
}

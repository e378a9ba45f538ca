import type { Bus } from '@jetloop/messaging';

interface Stored {
  readonly message: { readonly subject: string; readonly data?: string };
}

/** Subjects of all messages that hold a text: in the journal, the public events, commands, dead letters and blobs, not in buckets. */
export async function subjectsHolding(bus: Bus, text: string): Promise<string[]> {
  const { streams } = await bus.api<{ streams: string[] }>('STREAM.NAMES');
  const searched = streams.filter((stream) => !stream.startsWith('KV_'));
  const found = await Promise.all(searched.map((stream) => inStream(bus, stream, text)));
  return found.flat();
}

async function inStream(bus: Bus, stream: string, text: string): Promise<string[]> {
  const { state } = await bus.api<{ state: { first_seq: number; last_seq: number } }>(`STREAM.INFO.${stream}`);
  const found: string[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const stored = await bus.api<Stored>(`STREAM.MSG.GET.${stream}`, { seq }).catch(() => undefined); // It was deleted.
    const { subject = '', data = '' } = stored?.message ?? {};
    if (Buffer.from(data, 'base64').includes(text)) found.push(subject);
  }
  return found;
}

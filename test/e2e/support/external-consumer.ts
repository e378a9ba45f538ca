import { AckPolicy, connect } from 'nats';

/** What somebody with nothing but a NATS client does: a durable consumer of public events with a filter. */
export async function consumeEvents(natsUrl: string, filter: string): Promise<{ subject: string; value: unknown }[]> {
  const { host, username, password } = new URL(natsUrl);
  const nats = await connect({ servers: host, user: username, pass: password });
  try {
    const manager = await nats.jetstreamManager();
    const { name } = await manager.consumers.add('EVENTS', {
      durable_name: `external-${process.hrtime.bigint()}`,
      filter_subject: filter,
      ack_policy: AckPolicy.Explicit,
    });
    const consumer = await nats.jetstream().consumers.get('EVENTS', name);
    const messages = await consumer.fetch({ max_messages: 1_000, expires: 1_000 });
    const seen: { subject: string; value: unknown }[] = [];
    for await (const message of messages) {
      seen.push({ subject: message.subject, value: message.json() });
      message.ack();
    }
    return seen;
  } finally {
    await nats.close();
  }
}

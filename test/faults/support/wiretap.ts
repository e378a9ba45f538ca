import type { Bus } from '@jetloop/messaging';

/** Everything that is published on some subjects, from the moment it listens. */
export class Wiretap {
  readonly bodies: string[] = [];

  private constructor(private readonly unsubscribe: () => void) {}

  static async on(bus: Bus, ...subjects: string[]): Promise<Wiretap> {
    const subscriptions = subjects.map((subject) =>
      bus.nats.subscribe(subject, { callback: (_error, { data }) => tap.bodies.push(Buffer.from(data).toString()) }),
    );
    const tap = new Wiretap(() => {
      for (const subscription of subscriptions) subscription.unsubscribe();
    });
    await bus.nats.flush();
    return tap;
  }

  stop(): void {
    this.unsubscribe();
  }
}

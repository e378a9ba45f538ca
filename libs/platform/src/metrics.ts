import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** How a command ended, as the transport sees it. */
export type CommandOutcome = 'done' | 'retried' | 'dead';

const SECONDS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5, 30, 120];

/** The metrics of one service process: what Node tells of itself, and what became of its commands. */
export class ServiceMetrics {
  readonly registry = new Registry();
  private readonly commands: Counter<'outcome'>;
  private readonly durations: Histogram;

  constructor(service: string) {
    this.registry.setDefaultLabels({ service });
    collectDefaultMetrics({ register: this.registry });
    this.commands = new Counter({
      name: 'jetloop_commands_total',
      help: 'Commands settled, by what became of them.',
      labelNames: ['outcome'],
      registers: [this.registry],
    });
    this.durations = new Histogram({
      name: 'jetloop_command_duration_seconds',
      help: 'Seconds from the delivery of a command to its settlement.',
      buckets: SECONDS,
      registers: [this.registry],
    });
  }

  /** A counter of the service's own. Label values must be few: names and codes, never ids. */
  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  /** A histogram of seconds of the service's own. */
  seconds<L extends string>(name: string, help: string, labelNames: readonly L[]): Histogram<L> {
    return new Histogram({ name, help, labelNames: [...labelNames], buckets: SECONDS, registers: [this.registry] });
  }

  /** A gauge of the service's own. */
  gauge(name: string, help: string): Gauge {
    return new Gauge({ name, help, registers: [this.registry] });
  }

  /**
   * A value for each of several parts, asked for whenever the metrics are read. A part that cannot be asked is left out.
   * @param label what the parts are, such as `projection`
   */
  ask(name: string, help: string, label: string, parts: Readonly<Record<string, () => Promise<number>>>): void {
    const gauge: Gauge = new Gauge({
      name,
      help,
      labelNames: [label],
      registers: [this.registry],
      collect: async () => {
        gauge.reset();
        const asked = Object.entries(parts).map(async ([part, value]) => {
          gauge.set({ [label]: part }, await value());
        });
        await Promise.allSettled(asked);
      },
    });
  }

  /** Counts a settled command. */
  readonly observe = (outcome: CommandOutcome, milliseconds: number): void => {
    this.commands.inc({ outcome });
    this.durations.observe(milliseconds / 1_000);
  };
}

import { catalogueOf, LlmRouterModule, type CatalogueInput } from '@jetloop/llm-router';
import { Bus } from '@jetloop/messaging';
import { startCommandService, type RunningService } from '@jetloop/messaging/nest';
import { createLogger, nestLogger } from '@jetloop/platform';
import type { Attempt } from '@jetloop/contracts';
import type { TestSystem } from './test-system.js';

/** Another llm-router beside the one of a test's system, on a connection of its own. */
export class RouterReplica {
  private constructor(
    private readonly bus: Bus,
    private readonly service: RunningService,
    /** Attempts that it made itself, by id. */
    readonly made: ReadonlyMap<string, Attempt>,
  ) {}

  static async start(
    system: TestSystem,
    targets: CatalogueInput['targets'],
    tenantLimit?: number,
  ): Promise<RouterReplica> {
    const made = new Map<string, Attempt>();
    const bus = await Bus.connect({ url: system.natsUrl, name: 'llm-router-2' });
    const service = await startCommandService({
      bus,
      service: 'llm-router',
      module: LlmRouterModule.register({
        catalogue: catalogueOf({ targets }, 'test'),
        observe: (attempt) => made.set(attempt.attemptId, attempt),
        ...(tenantLimit === undefined ? {} : { tenantLimit }),
      }),
      logger: nestLogger(createLogger('llm-router-2', 'error')),
      graceMs: 1_000,
    });
    return new RouterReplica(bus, service, made);
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.bus.close();
  }
}

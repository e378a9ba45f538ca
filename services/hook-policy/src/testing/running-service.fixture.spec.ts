import { randomUUID } from 'node:crypto';
import { hookReplySchema, subjects, type HookCommand, type HookReply, type SeamSubject } from '@jetloop/contracts';
import { applyTopology, Bus, Journal, PolicyStore } from '@jetloop/messaging';
import { startCommandService, type RunningService } from '@jetloop/messaging/nest';
import { createLogger, nestLogger } from '@jetloop/platform';
import { testServers, type TestServers } from '@jetloop/testing';
import { HookPolicyModule } from '../hook-policy.module.js';
import type { HookPolicyOptions } from '../options.js';
import { readPolicySet } from '../rules/parse-policy-set.js';

/** The policy service on a real server: questions go in through COMMANDS, answers come out as an orchestrator gets them. */
export class RunningPolicyService {
  private readonly waiting = new Map<string, (reply: HookReply) => void>();

  private constructor(
    readonly servers: TestServers,
    readonly bus: Bus,
    readonly store: PolicyStore,
    private readonly service: RunningService,
    private readonly serviceBus: Bus,
  ) {
    bus.nats.subscribe(`cmd.session.${servers.tenant}.*.hook`, {
      callback: (_error, message) => {
        const reply = hookReplySchema.parse(message.json());
        this.waiting.get(reply.commandId)?.(reply);
      },
    });
  }

  static async start(options: HookPolicyOptions, sets: readonly object[] = []): Promise<RunningPolicyService> {
    const servers = await testServers();
    const bus = await Bus.connect({ url: servers.natsUrl, name: 'test' });
    await applyTopology(bus);
    const store = await PolicyStore.open(bus);
    for (const set of sets) await put(store, set);
    const serviceBus = await Bus.connect({ url: servers.natsUrl, name: 'hook-policy' });
    const service = await startCommandService({
      bus: serviceBus,
      service: 'hook-policy',
      module: HookPolicyModule.register(options),
      logger: nestLogger(createLogger('hook-policy', 'fatal')),
      graceMs: 1_000,
    });
    const running = new RunningPolicyService(servers, bus, store, service, serviceBus);
    await running.record('s1', ['say hello', 'and again']);
    return running;
  }

  /** Records a session that was told these texts, each in an event. */
  async record(session: string, texts: readonly string[]): Promise<void> {
    const { tenant } = this.servers;
    const events = texts.map((text, sequence) => ({
      ...{ sequence, version: 1, type: 'user.message' },
      data: { turn: 1, content: [{ type: 'text', text }], source: { kind: 'user' } },
    }));
    const commit = { tenant, session, causation: 'c', actor: 'test', at: new Date().toISOString(), events };
    await new Journal(this.bus).commit(commit, 0);
  }

  /** Stores a set and waits until the service decides by it. */
  async put(set: object, probe: SeamSubject): Promise<void> {
    const version = await put(this.store, set);
    while (!((await this.ask(probe)).policyVersion ?? '').split(',').includes(version)) continue;
  }

  async ask(subject: SeamSubject, more: Partial<HookCommand> = {}): Promise<HookReply> {
    const { tenant } = this.servers;
    const command: HookCommand = {
      commandId: `${tenant}.s1.1.1.hook.${subject.seam}.${randomUUID()}`,
      tenant,
      session: 's1',
      turn: 1,
      step: 1,
      what: `hook.${subject.seam}`,
      attempt: 1,
      upTo: 0,
      since: new Date().toISOString(),
      deadline: new Date(Date.now() + 3_600_000).toISOString(),
      subject,
      ...more,
    };
    const answered = new Promise<HookReply>((resolve) => this.waiting.set(command.commandId, resolve));
    await this.bus.publisher.publish(subjects.work('hook', tenant), Buffer.from(JSON.stringify(command)));
    const reply = await answered;
    this.waiting.delete(command.commandId);
    return reply;
  }

  async stop(): Promise<void> {
    await this.service.stop();
    await this.serviceBus.close();
    this.store.close();
    await this.bus.close();
    await this.servers.stop();
  }
}

async function put(store: PolicyStore, input: object): Promise<string> {
  const set = readPolicySet(input, 'test');
  return `${set.name}@${await store.put(set.name, set)}`;
}

import { expect } from '@jest/globals';
import type { ModelScript, ServiceProcess } from '@jetloop/testing';
import { ProcessSystem } from './process-system.js';
import { comparable, logOf, problemsOf } from './session-log.js';

/** A turn of which every place is known where an orchestrator passes a fault point. */
export interface KnownTurn {
  /** Its agent and the agent's model. */
  readonly agent: string;
  /** How often a turn that nothing disturbs passes each point. */
  readonly passes: Readonly<Record<string, number>>;
}

/** All services on an account of their own: lanes run side by side. The orchestrator that takes over sleeps until then. */
export class Lane {
  private readonly undisturbed = new Map<KnownTurn, unknown>();

  private constructor(
    readonly system: ProcessSystem,
    private readonly next: ServiceProcess,
  ) {}

  static async start(models: Readonly<Record<string, ModelScript>>, policies: { readonly name: string }) {
    const system = await ProcessSystem.start({ models });
    await system.putPolicies(policies.name, policies);
    const [next] = await Promise.all([
      // Asleep, it holds one command at most, which the other one gets when the wait for its acknowledgement is over.
      system.spawn('loop-orchestrator', { JETLOOP_SLOTS: '1' }),
      ...['llm-router', 'tool-runner', 'hook-policy'].map((service) => system.spawn(service)),
    ]);
    next.freeze();
    return new Lane(system, next);
  }

  /** Runs a turn that nothing disturbs, and makes sure that it passes no point more often than it is said to. */
  async learn(known: KnownTurn): Promise<void> {
    const beyond = Object.entries(known.passes).flatMap(([point, passes]) =>
      ['before', 'after'].map((side) => `${point}.${side}:kill@${passes + 1}`),
    );
    const orchestrator = await this.system.spawn('loop-orchestrator', { JETLOOP_FAULT: beyond.join() });
    this.undisturbed.set(known, await this.turn(known, `${known.agent}-undisturbed`));
    expect(await orchestrator.stop()).toBe(0);
  }

  /** Runs a turn whose orchestrator dies at a fault point, and one that knows nothing of it takes over: the log is the undisturbed one. */
  async killedAt(known: KnownTurn, fault: string): Promise<void> {
    const session = `${known.agent}-${fault.replaceAll(/[.:@]/g, '-')}`;
    const doomed = await this.system.spawn('loop-orchestrator', { JETLOOP_FAULT: fault });
    const done = this.turn(known, session);
    done.catch(() => undefined); // awaited below, after the kill
    expect({ fault, end: await doomed.exited }).toEqual({ fault, end: 'SIGKILL' });
    this.next.thaw();
    expect({ fault, log: await done }).toEqual({ fault, log: this.undisturbed.get(known) });
    await this.untilIdle();
    this.next.freeze();
  }

  stop(): Promise<void> {
    return this.system.stop();
  }

  /** Nothing is left over for the next orchestrator that is to die. */
  private async untilIdle(): Promise<void> {
    const info = () => this.system.bus.api<Record<string, unknown>>('CONSUMER.INFO.COMMANDS.loop-orchestrator');
    for (;;) {
      const { num_ack_pending: pending, num_pending: waiting } = await info();
      if (pending === 0 && waiting === 0) return;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  private async turn({ agent }: KnownTurn, session: string): Promise<unknown> {
    const { system } = this;
    const { messageId } = await system.client.create({
      session,
      agent: system.agent(agent, { tools: ['list_dir'] }),
      workspace: system.folder,
      prompt: 'look around, and keep the secret',
    });
    const { reason } = await system.client.turnOf(session, messageId, { signal: AbortSignal.timeout(30_000) });
    expect(reason).toEqual({ kind: 'completed' });
    const log = await logOf(system.client, session);
    expect({ session, problems: problemsOf(log) }).toEqual({ session, problems: [] });
    return comparable(log, session);
  }
}

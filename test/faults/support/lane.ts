import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from '@jest/globals';
import type { EventType, TurnEnd } from '@jetloop/contracts';
import type { ModelScript, ServiceProcess } from '@jetloop/testing';
import { ProcessSystem } from './process-system.js';
import { comparable, logOf, problemsOf } from './session-log.js';

/** A turn of which every place is known where an orchestrator passes a fault point. */
export interface KnownTurn {
  /** Its agent and the agent's model. */
  readonly agent: string;
  /** How often a turn that nothing disturbs passes each point. */
  readonly passes: Readonly<Record<string, number>>;
  /** How often its model is asked. */
  readonly requests: number;
  /** Default: completed. */
  readonly end?: TurnEnd;
  /** What somebody does in the turn, when it is time. */
  readonly meanwhile?: (turn: RunningTurn) => Promise<unknown>;
}

export interface RunningTurn {
  readonly system: ProcessSystem;
  readonly session: string;
  /** Resolves once the log holds an event of a type. */
  readonly until: (type: EventType) => Promise<void>;
  /** Resolves once its model was asked so often. */
  readonly asked: (times: number) => Promise<void>;
}

/** All services on an account of their own: lanes run side by side. The orchestrator that takes over sleeps until then. */
export class Lane {
  private constructor(
    readonly system: ProcessSystem,
    private readonly next: ServiceProcess,
  ) {}

  static async start(models: Readonly<Record<string, ModelScript>>, sets: readonly { readonly name: string }[]) {
    const system = await ProcessSystem.start({ models });
    for (const set of sets) await system.putPolicies(set.name, set);
    const [next] = await Promise.all([
      // Asleep, it holds one command at most, which the other one gets when the wait for its acknowledgement is over.
      system.spawn('loop-orchestrator', { JETLOOP_SLOTS: '1' }),
      ...['llm-router', 'tool-runner', 'hook-policy'].map((service) => system.spawn(service)),
    ]);
    next.freeze();
    return new Lane(system, next);
  }

  /** The log of a turn that nothing disturbs; it makes sure that it passes no point more often than it is said to. */
  async undisturbed(known: KnownTurn): Promise<unknown> {
    const beyond = Object.entries(known.passes).flatMap(([point, passes]) =>
      ['before', 'after'].map((side) => `${point}.${side}:kill@${passes + 1}`),
    );
    const orchestrator = await this.system.spawn('loop-orchestrator', { JETLOOP_FAULT: beyond.join() });
    const log = await this.turn(known, `${known.agent}-undisturbed`);
    expect(await orchestrator.stop()).toBe(0);
    return log;
  }

  /** The log of a turn whose orchestrator dies at a fault point, and one that knows nothing of it takes over. */
  async killedAt(known: KnownTurn, fault: string): Promise<unknown> {
    const session = `${known.agent}-${fault.replaceAll(/[.:@]/g, '-')}`;
    const doomed = await this.system.spawn('loop-orchestrator', { JETLOOP_FAULT: fault });
    const done = this.turn(known, session);
    done.catch(() => undefined); // awaited below, after the kill
    expect({ fault, end: await doomed.exited }).toEqual({ fault, end: 'SIGKILL' });
    this.next.thaw();
    const log = await done;
    await this.untilIdle();
    this.next.freeze();
    return log;
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
      await sleep(20);
    }
  }

  private async turn({ agent, end, meanwhile }: KnownTurn, session: string): Promise<unknown> {
    const { system } = this;
    const before = system.provider.requests(agent).length;
    const { messageId } = await system.client.create({
      session,
      agent: system.agent(agent, { tools: ['list_dir'] }),
      workspace: system.folder,
      prompt: 'look around, and keep the secret',
    });
    const signal = AbortSignal.timeout(30_000);
    await meanwhile?.({
      ...{ system, session },
      until: async (type) => {
        for await (const { event } of system.client.events(session, { signal })) if (event.type === type) return;
      },
      asked: async (times) => {
        while (system.provider.requests(agent).length < before + times && !signal.aborted) await sleep(20);
      },
    });
    const { reason } = await system.client.turnOf(session, messageId, { signal });
    expect(reason).toEqual(end ?? { kind: 'completed' });
    const log = await logOf(system.client, session);
    expect({ session, problems: problemsOf(log) }).toEqual({ session, problems: [] });
    return comparable(log, session);
  }
}

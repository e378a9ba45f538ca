import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  dialectOf,
  startReplayServer,
  wireOf,
  type PlannedResponse,
  type ReplayDialect,
  type ReplayedRequest,
  type ReplayServer,
  type ResponseStep,
} from '@jetloop/testing';
import { z } from 'zod';
import { saidOn, type Said } from './said.js';

interface Refusal {
  readonly status: number;
  readonly message?: string;
  /** `retry-after`. */
  readonly after?: string;
}

type Bytes = PlannedResponse & ({ readonly chunks: readonly ResponseStep[] } | { readonly body: string });
/** What a request gets: an answer, a refusal, or anything that is planned byte by byte. */
export type Reaction = Said | Refusal | Bytes;
export type React = (request: ReplayedRequest, calls: number) => Reaction;

const asked = z.looseObject({ model: z.string().optional(), stream: z.boolean().optional() });

/** Google names the model and the form in the path, everybody else in the body. */
function modelOf({ path, body }: ReplayedRequest): { model: string; isStreamed: boolean } {
  const inPath = /models\/([^:/]+):(\w+)/.exec(path);
  if (inPath) return { model: inPath[1] ?? '', isStreamed: inPath[2] === 'streamGenerateContent' };
  const { model = '', stream = false } = asked.parse(body);
  return { model, isStreamed: stream };
}

/** Models behind one strict provider on real HTTP, in any dialect, each with reactions of its own, and the calls that they got in order. */
export class FakeModels {
  private readonly plans = new Map<string, React>();
  private readonly counts = new Map<string, number>();
  private from = 0;

  private started: ReplayServer | undefined;

  static async start(): Promise<FakeModels> {
    const models = new FakeModels();
    models.started = await startReplayServer({
      folder: join(import.meta.dirname, '../../fixtures/providers'),
      strict: true,
      answer: (request) => models.react(request),
    });
    return models;
  }

  get url(): string {
    return `${this.server.url}/v1`;
  }

  /** Connections that the router closed in the middle of an answer. */
  get closed(): number {
    return this.server.closed;
  }

  /** What models do from now on: the reactions one after another, the last one for ever. Forgets earlier calls. */
  plan(plans: Readonly<Record<string, readonly Reaction[] | React>>): void {
    this.counts.clear();
    this.plans.clear();
    this.from = this.server.requests.length;
    for (const [model, plan] of Object.entries(plans)) {
      this.plans.set(
        model,
        typeof plan === 'function' ? plan : (_, calls) => plan[Math.min(calls, plan.length - 1)] ?? {},
      );
    }
  }

  get requests(): readonly ReplayedRequest[] {
    return this.server.requests.slice(this.from);
  }

  /** Models by call, in order. */
  get calls(): string[] {
    return this.requests.map((request) => modelOf(request).model);
  }

  /** Waits for so many calls; when they came. */
  async seen(count: number): Promise<number[]> {
    const deadline = Date.now() + 20_000;
    while (this.requests.length < count) {
      if (Date.now() > deadline) throw new Error(`expected ${count} calls, got ${this.requests.length}`);
      await sleep(5);
    }
    return this.requests.map(({ at }) => at);
  }

  stop(): Promise<void> {
    return this.server.stop();
  }

  private get server(): ReplayServer {
    if (!this.started) throw new Error('expected the models to be started');
    return this.started;
  }

  private react(request: ReplayedRequest): PlannedResponse | undefined {
    const { model, isStreamed } = modelOf(request);
    const plan = this.plans.get(model);
    if (!plan) return undefined;
    const calls = this.counts.get(model) ?? 0;
    this.counts.set(model, calls + 1);
    return responseOf(plan(request, calls), dialectOf(request.path), isStreamed);
  }
}

function responseOf(reaction: Reaction, dialect: ReplayDialect, isStreamed: boolean): PlannedResponse {
  if ('chunks' in reaction || 'body' in reaction) return reaction;
  if (!('status' in reaction)) return saidOn(dialect, reaction, isStreamed);
  const { status, message = `refused with ${status}`, after } = reaction;
  const headers = after === undefined ? {} : { 'retry-after': after };
  return { ...wireOf(dialect).refusal(status, message), headers };
}

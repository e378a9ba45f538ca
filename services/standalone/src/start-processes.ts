import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Catalogue } from '@jetloop/llm-router';
import { JournalFollower } from '@jetloop/messaging';
import { runAuditQuery } from '@jetloop/persistence';
import { startReaper, type Reaper } from '@jetloop/testing';
import type { Standalone } from './start-standalone.js';
import { superviseService, type Supervised } from './supervise-service.js';
import { withServers, type Servers, type ServersOptions } from './with-servers.js';

export interface ProcessesOptions extends ServersOptions {
  /** Folders under which sessions work. */
  readonly workspaceRoots: readonly string[];
  /** Model targets that the router knows. */
  readonly catalogue: Catalogue;
  /** The environment of the services beside their settings: keys of providers. Default none. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Told when a service that ended was started again. */
  readonly onRestart?: (line: string) => void;
}

export interface Processes extends Standalone {
  /** The process of each service now. */
  pids(): Readonly<Record<string, number>>;
}

const SERVICES = ['session-projector', 'llm-router', 'tool-runner', 'hook-policy', 'loop-orchestrator'];
/** Short, so that what a process held that was killed comes again soon. */
const ACK_WAIT_MS = 2_000;
const LOOK_MS = 50;
const PROJECTED_MS = 60_000;

/** Each service as a process of its own, started again when it ends, as an orchestrator of containers does it. */
export function startProcesses(options: ProcessesOptions): Promise<Processes> {
  return withServers({ ...options, ackWaitMs: ACK_WAIT_MS }, async (servers) => {
    const { natsUrl, databaseUrl, onStop } = servers;
    const reaper = await startReaper();
    onStop(() => reaper.dismiss());
    const env = await settings(options, servers, reaper);
    const listener = {
      started: (pid: number) => {
        reaper.watch(pid);
      },
      restarted: options.onRestart ?? (() => undefined),
    };
    const start = async (service: string): Promise<[string, Supervised]> => {
      const supervised = await superviseService(service, env, listener);
      onStop(() => supervised.stop());
      return [service, supervised];
    };
    const running = await Promise.all(SERVICES.map(start));
    return {
      natsUrl,
      databaseUrl,
      pids: () => Object.fromEntries(running.map(([service, supervised]) => [service, supervised.pid()])),
      projected: () => projected(servers),
      stop: servers.stop,
    };
  });
}

async function settings(options: ProcessesOptions, { natsUrl, databaseUrl, onStop }: Servers, reaper: Reaper) {
  const folder = await mkdtemp(join(tmpdir(), 'jetloop-processes-'));
  reaper.removeLater(folder);
  onStop(() => rm(folder, { recursive: true, force: true }));
  const models = join(folder, 'models.json');
  const targets = [...options.catalogue].map(([key, { name: _name, ...target }]) => [key, target] as const);
  await writeFile(models, JSON.stringify({ targets: Object.fromEntries(targets) }));
  const given = Object.entries(options.env ?? {}).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    ...Object.fromEntries(given),
    NATS_URL: natsUrl,
    DATABASE_URL: databaseUrl,
    JETLOOP_MODELS: models,
    JETLOOP_WORKSPACE_ROOTS: options.workspaceRoots.join(':'),
    JETLOOP_ALLOW_INLINE_AGENTS: 'true',
    JETLOOP_ACK_WAIT_MS: String(ACK_WAIT_MS),
  };
}

async function projected({ operator, databaseUrl }: Servers): Promise<void> {
  const { last } = await new JournalFollower(operator).bounds();
  const deadline = Date.now() + PROJECTED_MS;
  for (;;) {
    const { rows } = await runAuditQuery(databaseUrl, 'select coalesce(max(stream_seq), 0)::int from position');
    if (Number(rows[0]?.[0]) >= last) return;
    if (Date.now() > deadline) throw new Error(`SQL has not caught up in ${PROJECTED_MS / 1_000} s`);
    await sleep(LOOK_MS);
  }
}

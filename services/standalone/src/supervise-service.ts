import { setTimeout as sleep } from 'node:timers/promises';
import { spawnService, type ServiceProcess } from '@jetloop/testing';

/** Starts of one service at most: one that cannot stay up is a fault to be seen, not to be repeated. */
const MAX_STARTS = 20;
const PAUSE_MS = 200;

export interface SupervisorListener {
  /** A process was started. */
  readonly started: (pid: number) => void;
  /** It ended, and what came of it. */
  readonly restarted: (line: string) => void;
}

/** A service that is started again when it ends. */
export interface Supervised {
  /** Its process, or the last one where it could not be started again. */
  pid(): number;
  stop(): Promise<void>;
}

/** @throws Error with its last lines where it does not start the first time */
export async function superviseService(
  service: string,
  env: Readonly<Record<string, string>>,
  listener: SupervisorListener,
): Promise<Supervised> {
  let current = await start();
  const stopping = new AbortController();
  // It changes while something else is awaited.
  const isStopping = () => stopping.signal.aborted;
  const watched = watch();

  async function start(): Promise<ServiceProcess> {
    const process = await spawnService(service, env);
    listener.started(process.pid);
    return process;
  }

  async function watch(): Promise<void> {
    for (let starts = 1; ; starts++) {
      const ended = await current.exited;
      if (isStopping()) return;
      if (starts >= MAX_STARTS) {
        listener.restarted(`${service} ended ${starts} times, the last time by ${ended}: it is not started again`);
        return;
      }
      await sleep(PAUSE_MS);
      const next = await start().catch((error: unknown) => {
        listener.restarted(`${service} ended by ${ended} and could not be started again: ${String(error)}`);
      });
      if (!next) return;
      current = next;
      if (isStopping()) {
        await current.stop();
        return;
      }
      listener.restarted(`${service} ended by ${ended}, started again as process ${current.pid}`);
    }
  }

  return {
    pid: () => current.pid,
    stop: async () => {
      stopping.abort();
      await current.stop();
      await watched;
    },
  };
}

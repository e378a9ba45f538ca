import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

/** A service that runs as a process of its own. */
export interface ServiceProcess {
  readonly pid: number;
  /** Resolves when it is gone: its exit code, or the signal that ended it. */
  readonly exited: Promise<number | NodeJS.Signals>;
  /** All that it wrote, on either stream, a line each. */
  readonly lines: readonly string[];
  /** SIGKILL: no time to clean up. */
  kill9(): void;
  /** SIGSTOP: it sleeps until `thaw`. */
  freeze(): void;
  thaw(): void;
  /** SIGTERM, and SIGKILL when it is not gone after `graceMs` (default 10,000). */
  stop(graceMs?: number): Promise<number | NodeJS.Signals>;
}

const ROOT = join(import.meta.dirname, '../../../..');
/** Milliseconds until it must have said that it is ready. */
const START_MS = 30_000;

/** The file that a service starts from: its bundle, which is there sooner, or its `dist/main.js` where it has none. */
export function serviceEntry(service: string): string {
  const bundle = join(ROOT, 'dist', `${service}.js`);
  return existsSync(bundle) ? bundle : join(ROOT, 'services', service, 'dist', 'main.js');
}

/**
 * Starts the service's entry with this environment (and PATH) and waits until it is ready.
 * @param nodeOptions Node's own options, such as `--cpu-prof`
 * @throws Error with its last lines when it ends before, or is not ready in 30 s
 */
export async function spawnService(
  service: string,
  env: Readonly<Record<string, string>>,
  nodeOptions: readonly string[] = [],
): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [...nodeOptions, serviceEntry(service)], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const exited = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('exit', (code, signal) => {
      resolve(signal ?? code ?? 0);
    });
  });
  createInterface({ input: child.stdout }).on('line', (line) => lines.push(line));
  const ready = new Promise<'ready'>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      if (line.includes('"msg":"ready"')) resolve('ready');
    });
  });
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<'late'>((resolve) => {
    timer = setTimeout(resolve, START_MS, 'late');
  });
  const first = await Promise.race([ready, exited, late]);
  clearTimeout(timer);
  if (first !== 'ready' || child.pid === undefined) {
    child.kill('SIGKILL');
    throw new Error(`${service} did not start (${first}):\n${lines.slice(-10).join('\n')}`);
  }
  return running(child, child.pid, exited, lines);
}

function running(
  child: ChildProcess,
  pid: number,
  exited: ServiceProcess['exited'],
  lines: readonly string[],
): ServiceProcess {
  return {
    pid,
    exited,
    lines,
    kill9: () => child.kill('SIGKILL'),
    freeze: () => child.kill('SIGSTOP'),
    thaw: () => child.kill('SIGCONT'),
    stop: async (graceMs = 10_000) => {
      child.kill('SIGCONT');
      child.kill('SIGTERM');
      const kill = setTimeout(() => child.kill('SIGKILL'), graceMs);
      const ended = await exited;
      clearTimeout(kill);
      return ended;
    },
  };
}

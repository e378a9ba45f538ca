import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { join } from 'node:path';
import { serviceEntry } from '@jetloop/testing';
import type { ServiceName } from './options.ts';

const START_MS = 20_000;
const STOP_MS = 10_000;
const ROOT = join(import.meta.dirname, '..');

/** As `deploy/entrypoint.sh` starts services. */
const NODE_OPTIONS: readonly string[] = ['--max-semi-space-size=8'];

/** A process of the benchmark, known by its id. */
export interface BenchProcess {
  readonly name: string;
  readonly pid: number;
  /** Lines that it logged at warning or above. */
  readonly complaints: readonly string[];
  /** Ends it: SIGTERM, after a grace SIGKILL. May be called more than once. */
  stop(): Promise<void>;
}

export interface ServiceStart {
  readonly service: ServiceName | 'acp-bridge';
  readonly env: Readonly<Record<string, string>>;
  /** Node's own options beside those of all services, such as `--cpu-prof`. */
  readonly nodeOptions: readonly string[];
}

/** Starts a service as its own process and waits until it says that it is ready. */
export async function startService({ service, env, nodeOptions }: ServiceStart): Promise<BenchProcess> {
  // A profile tells the packages apart by their files.
  const main = nodeOptions.length > 0 ? join(ROOT, 'services', service, 'dist', 'main.js') : serviceEntry(service);
  const child = spawn(process.execPath, [...NODE_OPTIONS, ...nodeOptions, main], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  endWithUs(child);
  const complaints: string[] = [];
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      if (line.includes('"msg":"ready"')) resolve();
      if (!/"level":[123]0\b/.test(line)) complaints.push(line);
    });
  });
  const { pid } = await started(service, child, ready, complaints);
  return { name: service, pid, complaints, stop: () => end(child) };
}

/** Waits for the first of: ready, ended, out of time. */
export async function started(
  name: string,
  child: ChildProcess,
  ready: Promise<unknown>,
  complaints: readonly string[] = [],
): Promise<{ pid: number }> {
  const waiting = new AbortController();
  const outOfTime = AbortSignal.any([waiting.signal, AbortSignal.timeout(START_MS)]);
  const ended = once(child, 'exit', { signal: outOfTime }).then(
    () => 'ended' as const,
    () => 'late' as const,
  );
  const what = await Promise.race([ready.then(() => 'ready' as const), ended]);
  waiting.abort();
  if (what === 'ready' && child.pid !== undefined) return { pid: child.pid };
  await end(child);
  throw new Error(`${name} did not start (${what}):\n${complaints.slice(-10).join('\n')}`);
}

/** Where the benchmark itself breaks, nothing of it stays behind. */
function endWithUs(child: ChildProcess): void {
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  child.once('exit', () => process.off('exit', kill));
}

export async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  const kill = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exited;
  clearTimeout(kill);
}

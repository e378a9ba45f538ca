import { parseArgs } from 'node:util';

/** Services that can be profiled, in the order in which they start. */
export const serviceNames = [
  'session-projector',
  'llm-router',
  'tool-runner',
  'hook-policy',
  'loop-orchestrator',
] as const;
export type ServiceName = (typeof serviceNames)[number];

export type Sync = 'default' | 'always';

export interface BenchOptions {
  /** How many sessions run at once, a row each. */
  readonly sessions: readonly number[];
  readonly runs: number;
  readonly syncs: readonly Sync[];
  /** One in-process policy on every seam. */
  readonly policies: boolean;
  /** Milliseconds after which the model answers in the measured part; 0: at once. */
  readonly think: number;
  /** Threads of nats-server that run Go code at once; undefined: half of the cores, as wherever the server is embedded. */
  readonly natsThreads: number | undefined;
  readonly profile: ServiceName | undefined;
  readonly json: boolean;
}

export const USAGE = `npm run bench -- [options]

  --sessions 1,64,512   sessions at once, a row each
  --runs 3              runs of a row; the table has the medians
  --sync default|always|both
                        sync_interval of nats-server; default: both
  --quick               one run at 1 and 64 sessions, default sync
  --policies            one in-process policy on every seam; adds the time of a decision
  --think MS            the model answers after so long, so that the cores are not all busy; default: at once
  --nats-threads N      GOMAXPROCS of nats-server; default: half of the cores
  --profile SERVICE     a CPU profile of a service in the measured time (${serviceNames.join(', ')})
  --json                all figures of all runs as JSON on standard output`;

/** What is asked for cannot be done. The message says what was expected. */
export class OptionsError extends Error {
  override readonly name = 'OptionsError';
}

/** @throws OptionsError */
export function readOptions(args: readonly string[]): BenchOptions | 'help' {
  const { values } = parse(args);
  if (values.help === true) return 'help';
  const quick = values.quick === true;
  const profile = serviceNames.find((name) => name === values.profile);
  if (values.profile !== undefined && profile === undefined)
    throw new OptionsError(`--profile ${values.profile}: expected one of ${serviceNames.join(', ')}`);
  return {
    sessions: (values.sessions ?? (quick ? '1,64' : '1,64,512')).split(',').map((one) => count('sessions', one, 2_000)),
    runs: count('runs', values.runs ?? (quick ? '1' : '3'), 20),
    syncs: syncsOf(values.sync ?? (quick ? 'default' : 'both')),
    policies: values.policies === true,
    think: values.think === undefined ? 0 : count('think', values.think, 10_000),
    natsThreads: values['nats-threads'] === undefined ? undefined : count('nats-threads', values['nats-threads'], 64),
    profile,
    json: values.json === true,
  };
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        sessions: { type: 'string' },
        runs: { type: 'string' },
        sync: { type: 'string' },
        quick: { type: 'boolean' },
        policies: { type: 'boolean' },
        think: { type: 'string' },
        'nats-threads': { type: 'string' },
        profile: { type: 'string' },
        json: { type: 'boolean' },
        help: { type: 'boolean' },
      },
    });
  } catch (error) {
    throw new OptionsError(error instanceof Error ? error.message : String(error));
  }
}

function count(option: string, text: string, most: number): number {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > most)
    throw new OptionsError(`--${option} ${text}: expected a whole number from 1 to ${most}`);
  return value;
}

function syncsOf(text: string): Sync[] {
  if (text === 'both') return ['default', 'always'];
  if (text === 'default' || text === 'always') return [text];
  throw new OptionsError(`--sync ${text}: expected default, always or both`);
}

// npm run bench: the workload and the figures of docs/benchmarks.md.
import { cpus, release } from 'node:os';
import { benchAcpAgent } from './acp-agent.ts';
import { benchAcpHarness } from './acp-harness.ts';
import { longSession } from './long-session.ts';
import { measure, type Measurement } from './measure.ts';
import { OptionsError, readOptions, USAGE, type BenchOptions } from './options.ts';
import { benchRouter } from './router-main.ts';
import { profileText, tables } from './table.ts';
import { benchTools } from './tools-main.ts';

const NOT_DONE = 1;
const MISUSE = 2;

if (process.argv[2] === 'router') process.exit(await benchRouter(process.argv.slice(3)));
if (process.argv[2] === 'tools') process.exit(await benchTools(process.argv.slice(3)));

if (process.argv[2] === 'acp' || process.argv[2] === 'acp-harness' || process.argv[2] === 'acp-agent') {
  if (process.argv[2] !== 'acp-agent') process.stdout.write(`${await benchAcpHarness()}\n`);
  if (process.argv[2] !== 'acp-harness') process.stdout.write(`${await benchAcpAgent()}\n`);
  process.exit(0);
}

if (process.argv[2] === 'long-session') {
  process.stdout.write(`${await longSession()}\n`);
  process.exit(0);
}

let options: BenchOptions | 'help';
try {
  options = readOptions(process.argv.slice(2));
} catch (error) {
  if (!(error instanceof OptionsError)) throw error;
  process.stderr.write(`${error.message}\n\n${USAGE}\n`);
  process.exit(MISUSE);
}
if (options === 'help') {
  process.stdout.write(`${USAGE}\n`);
  process.exit(0);
}
try {
  process.exitCode = await bench(options);
} catch (error) {
  process.stderr.write(`The benchmark failed: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = NOT_DONE;
}

async function bench(chosen: BenchOptions): Promise<number> {
  const rows: Measurement[][] = [];
  const interrupted = interruption();
  const kinds = chosen.syncs.flatMap((sync) => chosen.sessions.map((sessions) => ({ sync, sessions })));
  for (const { sync, sessions } of kinds) {
    const runs: Measurement[] = [];
    rows.push(runs);
    for (let run = 1; run <= chosen.runs; run++) {
      const measurement = await measure(chosen, { sync, sessions, signal: interrupted });
      runs.push(measurement);
      process.stderr.write(`${progressOf(measurement, run, chosen.runs)}\n`);
    }
  }
  const about = { date: new Date().toISOString().slice(0, 10), machine: machine(), policies: chosen.policies };
  if (chosen.json) {
    process.stdout.write(`${JSON.stringify({ about, runs: rows.flat() }, undefined, 2)}\n`);
    return 0;
  }
  process.stdout.write(
    `${about.date}, ${about.machine}${chosen.policies ? ', with policies' : ''}${chosen.think > 0 ? `, the model answers after ${chosen.think} ms` : ''}\n\n${tables(rows)}\n`,
  );
  for (const { profile, sessions } of rows.flat()) {
    if (profile) process.stdout.write(`\n${String(chosen.profile)} at ${sessions} sessions: ${profileText(profile)}\n`);
  }
  return 0;
}

/** Ctrl-C and SIGTERM: the run at hand fails, and everything that it started is stopped. */
function interruption(): AbortSignal {
  const controller = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.on(signal, () => {
      controller.abort();
    });
  return controller.signal;
}

function progressOf(
  { sync, sessions, stepsPerSecond, stepMs, noise, complaints }: Measurement,
  run: number,
  of: number,
) {
  return [
    `sync ${sync}, ${sessions} sessions, run ${run} of ${of}: ${stepsPerSecond.toFixed(0)} steps/s`,
    `step p50 ${stepMs.p50.toFixed(1)} p99 ${stepMs.p99.toFixed(1)} ms`,
    `load before ${noise.loadBefore.toFixed(1)}, others used ${noise.otherCores.toFixed(2)} cores`,
    ...(complaints.length > 0
      ? [`${complaints.length} complaints, the first: ${complaints[0]?.slice(0, 400) ?? ''}`]
      : []),
  ].join(', ');
}

function machine(): string {
  const [first] = cpus();
  return `${cpus().length} cores (${first?.model.trim() ?? 'unknown'}), Linux ${release()}, Node ${process.version}`;
}

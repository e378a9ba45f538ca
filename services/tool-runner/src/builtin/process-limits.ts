import { availableParallelism } from 'node:os';
import { findProgram } from '../tool/find-program.js';

/** Limits of one command and of what it starts, where the machine has `prlimit`. */
export interface ProcessLimits {
  /** Memory (MiB) that one process may write to; default 4,096. */
  readonly memoryMb?: number;
  /** Processes of the runner's user at once; default: as the machine has it. It does not hold for root. */
  readonly processes?: number;
}

const DEFAULT_MEMORY_MB = 4_096;
const MIB = 1024 * 1024;

/** The words that go before a command so that it runs within limits; none where there is no `prlimit`. */
export async function limitWords(limits: ProcessLimits, timeoutMs: number): Promise<string[]> {
  const prlimit = await findProgram('prlimit');
  if (prlimit === undefined) return [];
  const { memoryMb = DEFAULT_MEMORY_MB, processes } = limits;
  // One process cannot use more than all cores for the whole time; what does is lost in a loop that nothing else ends.
  const cpuSeconds = Math.ceil(timeoutMs / 1000) * availableParallelism() + 10;
  return [
    prlimit,
    '--core=0',
    `--cpu=${cpuSeconds}`,
    `--data=${memoryMb * MIB}`,
    ...(processes === undefined ? [] : [`--nproc=${processes}`]),
    '--',
  ];
}

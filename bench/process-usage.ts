import { readdir, readFile, writeFile } from 'node:fs/promises';

/** `_SC_CLK_TCK` of Linux. */
const TICKS_A_SECOND = 100;
const KIB_A_MIB = 1_024;
const KIB = 1_024;
const BYTES_A_MB = 1_000_000;

/** Seconds of CPU that a process, and what it started and waited for, has used so far. */
export async function cpuSeconds(pid: number): Promise<number> {
  const fields = await statFields(pid);
  // utime and stime, then the same of children that ended; fields 14 to 17, and the first two are cut off.
  return sum(fields.slice(11, 15).map(Number)) / TICKS_A_SECOND;
}

/** Like `cpuSeconds`, for a process and its living children: a Postgres. */
export async function familyCpuSeconds(pid: number): Promise<number> {
  const pids = [pid, ...(await childrenOf(pid))];
  return sum(await Promise.all(pids.map((one) => orGone(cpuSeconds(one)))));
}

/** Most resident memory (MiB) since the start or the last `resetPeak`. */
export async function peakMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) / KIB_A_MIB;
}

/** Resident memory (MB) now. */
export async function residentMemory(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  return (Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? NaN) * KIB) / BYTES_A_MB;
}

export async function resetPeak(pid: number): Promise<void> {
  await writeFile(`/proc/${pid}/clear_refs`, '5');
}

/** Memory (MiB) of a process and its children now; a page that several share counts once. */
export async function familyMemory(pid: number): Promise<number> {
  const pids = [pid, ...(await childrenOf(pid))];
  return sum(await Promise.all(pids.map((one) => orGone(proportionalMemory(one)))));
}

/** Bytes that a process has had written to storage so far. */
export async function writtenBytes(pid: number): Promise<number> {
  const io = await readFile(`/proc/${pid}/io`, 'utf8');
  return Number(/^write_bytes: (\d+)/m.exec(io)?.[1] ?? NaN);
}

/** Seconds of CPU that everything on the machine has used so far. */
export async function machineCpuSeconds(): Promise<number> {
  const [line = ''] = (await readFile('/proc/stat', 'utf8')).split('\n');
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0] = line.trim().split(/\s+/).slice(1).map(Number);
  return (user + nice + system + irq + softIrq) / TICKS_A_SECOND;
}

async function proportionalMemory(pid: number): Promise<number> {
  const rollup = await readFile(`/proc/${pid}/smaps_rollup`, 'utf8');
  return Number(/^Pss:\s+(\d+) kB/m.exec(rollup)?.[1] ?? 0) / KIB_A_MIB;
}

async function childrenOf(parent: number): Promise<number[]> {
  const pids = (await readdir('/proc')).map(Number).filter((pid) => Number.isInteger(pid));
  const parents = await Promise.all(pids.map((pid) => orGone(statFields(pid).then(([, ppid]) => Number(ppid)))));
  return pids.filter((_, index) => parents[index] === parent);
}

/** Fields of `/proc/<pid>/stat` from the third on: the second, the name, may hold anything. */
async function statFields(pid: number): Promise<string[]> {
  const text = await readFile(`/proc/${pid}/stat`, 'utf8');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

/** A process may end while it is looked at: it counts 0 then. */
function orGone(value: Promise<number>): Promise<number> {
  return value.catch(() => 0);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

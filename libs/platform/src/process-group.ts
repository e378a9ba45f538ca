import { open, readdir } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;
/** Enough for the group, which stands behind a name of at most 64 bytes. */
const STAT_BYTES = 256;
const READ_AT_ONCE = 32;
const NOTHING = { buffer: Buffer.alloc(0), bytesRead: 0 };

/** Sends a signal to all processes of a group; false: nobody of it is left. */
export function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    // ESRCH: nobody is left. EPERM cannot be: they are our own children.
    return false;
  }
}

/** Resolves to true once nobody of the group runs, to false after `withinMs`. */
export async function untilGroupGone(group: number, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  while (await isGroupAlive(group)) {
    const left = end - performance.now();
    if (left <= 0) return false;
    await sleep(Math.min(POLL_MS, left));
  }
  return true;
}

/** Whether anyone in the group runs. A zombie does not: it is dead, and only waits for a parent to notice. */
export async function isGroupAlive(group: number): Promise<boolean> {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== 'linux') return true;
  // While its leader runs one look is enough.
  if ((await groupOf(String(group))) === group) return true;
  return (await runningGroups()).has(group);
}

let current: Promise<unknown> = Promise.resolve();
let next: Promise<ReadonlySet<number>> | undefined;

/** The groups of all that runs. Many that ask at once share one look at /proc: the next one, since what has begun may have passed them by. */
function runningGroups(): Promise<ReadonlySet<number>> {
  next ??= current.then(() => {
    next = undefined;
    const looking = lookForGroups();
    current = looking.catch(() => undefined); // told to those who asked
    return looking;
  });
  return next;
}

async function lookForGroups(): Promise<ReadonlySet<number>> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const groups = new Set<number>();
  while (pids.length > 0)
    for (const group of await Promise.all(pids.splice(-READ_AT_ONCE).map(groupOf)))
      if (group !== undefined) groups.add(group);
  return groups;
}

/** The group of a process that runs. */
async function groupOf(pid: string): Promise<number | undefined> {
  // A process that ended since the listing has no file any more, or one that gives nothing.
  const file = await open(`/proc/${pid}/stat`).catch(() => undefined);
  try {
    // Not `readFile`, which takes 64 KiB for a file of unknown size.
    const { buffer, bytesRead } = (await file?.read(Buffer.alloc(STAT_BYTES)).catch(() => undefined)) ?? NOTHING;
    const stat = buffer.toString('latin1', 0, bytesRead);
    // "pid (name) state ppid pgrp …"; the name may hold anything, so count from its last bracket.
    const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return state === undefined || state === 'Z' || state === 'X' ? undefined : Number(pgrp);
  } finally {
    await file?.close();
  }
}

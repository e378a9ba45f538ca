import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;

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
  // While its leader runs one look is enough: many groups that end at once must not read all of /proc each.
  if (await runsInGroup(String(group), group)) return true;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const running = await Promise.all(pids.map((pid) => runsInGroup(pid, group)));
  return running.includes(true);
}

async function runsInGroup(pid: string, group: number): Promise<boolean> {
  // A process that ended since the listing has no file any more.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // "pid (name) state ppid pgrp …"; the name may hold anything, so count from its last bracket.
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(pgrp) === group && state !== 'Z' && state !== 'X';
}

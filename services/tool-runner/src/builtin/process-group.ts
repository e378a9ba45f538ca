import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';

const POLL_MS = 25;
const AFTER_KILL_MS = 1000;

const held = new Set<number>();

/** Until it is released, the group is killed when this process exits: nothing of a tool's outlives the runner. */
export function holdProcessGroup(group: number): () => void {
  if (held.size === 0) process.on('exit', killHeld);
  held.add(group);
  return () => {
    held.delete(group);
    if (held.size === 0) process.off('exit', killHeld);
  };
}

function killHeld(): void {
  for (const group of held) send(group, 'SIGKILL');
}

/** Ends a whole process group: SIGTERM, the grace, SIGKILL; resolves when it is gone. */
export async function endProcessGroup(group: number, graceMs: number): Promise<void> {
  send(group, 'SIGTERM');
  if (await isGone(group, graceMs)) return;
  send(group, 'SIGKILL');
  // What is stuck in the kernel dies when it comes back from there; nobody waits for that.
  await isGone(group, AFTER_KILL_MS);
}

/** Whether anyone in the group still runs. A zombie does not: it is dead, and only waits for a parent to notice. */
export async function isGroupAlive(group: number): Promise<boolean> {
  if (!send(group, 0)) return false;
  if (process.platform !== 'linux') return true;
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const running = await Promise.all(pids.map((pid) => runsInGroup(pid, group)));
  return running.includes(true);
}

async function isGone(group: number, withinMs: number): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    if (!(await isGroupAlive(group))) return true;
    if (performance.now() >= end) return false;
    await sleep(POLL_MS);
  }
}

async function runsInGroup(pid: string, group: number): Promise<boolean> {
  // A process that ended since the listing has no file any more.
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  // "pid (name) state ppid pgrp …"; the name may hold anything, so count from its last bracket.
  const [state, , pgrp] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return Number(pgrp) === group && state !== 'Z' && state !== 'X';
}

function send(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    // ESRCH: nobody is left. EPERM cannot be: they are our own children.
    return false;
  }
}

import { signalGroup, untilGroupGone } from '@jetloop/platform';

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
  for (const group of held) signalGroup(group, 'SIGKILL');
}

/** Ends a whole process group: SIGTERM, the grace, SIGKILL; resolves when it is gone. */
export async function endProcessGroup(group: number, graceMs: number): Promise<void> {
  signalGroup(group, 'SIGTERM');
  if (await untilGroupGone(group, graceMs)) return;
  signalGroup(group, 'SIGKILL');
  // What is stuck in the kernel dies when it comes back from there; nobody waits for that.
  await untilGroupGone(group, AFTER_KILL_MS);
}

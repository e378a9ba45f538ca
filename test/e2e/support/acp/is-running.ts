import { readFile } from 'node:fs/promises';

/** Whether a process runs: a zombie only waits for somebody to notice. */
export async function isRunning(pid: number | string): Promise<boolean> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
  return stat !== '' && !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
}

import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { InfraError } from './infra-error.js';
import { errorCode } from './error-facts.js';

/** Longer than the reaper needs, so that a start right after a crash meets an ended server. */
const WAIT_MS = 8_000;

/** Waits until the server named by the first line of a pid file has ended: two servers on one data folder would ruin it. */
export async function awaitFormerServer(pidFile: string, programName: string, waitMs = WAIT_MS): Promise<void> {
  const deadline = performance.now() + waitMs;
  for (;;) {
    const pid = await readPid(pidFile);
    if (pid === undefined || !(await isRunning(pid, programName))) return;
    if (performance.now() > deadline)
      throw new InfraError(
        `The data of ${pidFile} is in use by ${programName} (process ${pid}). Stop it, or choose another data folder.`,
      );
    await sleep(100);
  }
}

async function readPid(pidFile: string): Promise<number | undefined> {
  const text = await readFile(pidFile, 'utf8').catch(() => ''); // no file: no former server
  const pid = Number.parseInt(text, 10);
  return pid > 0 ? pid : undefined;
}

async function isRunning(pid: number, programName: string): Promise<boolean> {
  if (process.platform === 'linux') {
    // After a restart of a container the number may belong to something else: the name decides. A zombie has ended.
    const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => ''); // no such process
    return status.startsWith(`Name:\t${programName}\n`) && !/^State:\s+Z/m.test(status);
  }
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}

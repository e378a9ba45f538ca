import { writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseFaults, type Fault, type FaultPoint } from './parse-faults.js';

let armed: readonly (Fault & { passed: number })[] | undefined;

/**
 * A place where a test can make this process fail: always compiled in, inert unless `JETLOOP_FAULT` names it
 * (`point:action[@nth],…`, spec 8.7). `drop`: the caller leaves out what it was about to do. What strikes says so on standard error first.
 */
export async function faultPoint(point: FaultPoint): Promise<'drop' | undefined> {
  armed ??= parseFaults(process.env['JETLOOP_FAULT']).map((fault) => ({ ...fault, passed: 0 }));
  for (const fault of armed) {
    if (fault.point !== point || (fault.passed += 1) !== fault.nth) continue;
    writeSync(process.stderr.fd, `fault ${point}: ${fault.action}\n`);
    switch (fault.action) {
      case 'kill':
        process.kill(process.pid, 'SIGKILL');
        await new Promise(() => undefined);
        break;
      case 'exit':
        process.exit(70);
        break;
      case 'stop':
        process.kill(process.pid, 'SIGSTOP');
        break;
      case 'throw':
        throw new Error(`fault point ${point}`);
      case 'hang':
        await new Promise(() => undefined);
        break;
      case 'delay':
        await sleep(fault.delayMs);
        break;
      case 'drop':
        return 'drop';
    }
  }
  return undefined;
}

/** Reads `JETLOOP_FAULT` now, so that an unknown name stops the start. @throws FaultError */
export function checkFaults(): void {
  parseFaults(process.env['JETLOOP_FAULT']);
}

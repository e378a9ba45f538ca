// Plain JavaScript on the built packages: jest resolves neither `@jetloop/*` nor `.js` to source for a global set-up.
// jest calls it once a run, whatever the number of projects that name it.
import { startTestRun } from '@jetloop/testing';

let run;

export default async function globalSetup() {
  run = await startTestRun();
}

export async function stopTestRun() {
  await run?.stop();
  run = undefined;
}

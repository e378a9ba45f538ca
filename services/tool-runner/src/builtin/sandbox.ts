import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { findProgram } from '../tool/find-program.js';
import { readThrown } from '../tool/thrown.js';
import { ToolError } from '../tool/tool-error.js';
import { childEnv } from './child-env.js';

const run = promisify(execFile);
const PROBE_MS = 10_000;
/** A sandbox that could not be had is tried again after this time: an operator may have mended it. */
const AGAIN_MS = 60_000;

let probed: { readonly at: number; readonly problem: Promise<string | undefined> } | undefined;

export interface SandboxedFolder {
  /** The workspace: the only folder that can be written to. */
  readonly root: string;
  /** Where the command runs, in the workspace. */
  readonly workdir: string;
  /** Folders of other sessions' workspaces: hidden. */
  readonly hidden: readonly string[];
}

/**
 * The words that go before a command so that it runs in bubblewrap: no network, other processes out of sight, the workspace
 * writable and the rest of the machine read-only.
 * @throws ToolError `sandbox_unavailable`
 */
export async function sandboxWords({ root, workdir, hidden }: SandboxedFolder): Promise<string[]> {
  const bwrap = await findProgram('bwrap');
  const problem = bwrap === undefined ? 'bubblewrap (bwrap) is not installed' : await problemOf(bwrap);
  if (bwrap === undefined || problem !== undefined)
    throw new ToolError(
      'sandbox_unavailable',
      `The sandbox that the agent asks for cannot be had here: ${problem ?? ''}.`,
    );
  const folders = hidden.filter((folder) => folder !== '/' && folder !== root).flatMap((folder) => ['--tmpfs', folder]);
  return [bwrap, ...walls, ...folders, '--bind', root, root, '--chdir', workdir, '--'];
}

/** Sockets of the machine's services lie in /run: read-only would still let a command talk to them. */
const walls = [
  ...['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', '--tmpfs', '/run'],
  ...['--unshare-all', '--die-with-parent', '--cap-drop', 'ALL'],
];

function problemOf(bwrap: string): Promise<string | undefined> {
  const now = performance.now();
  if (probed && now - probed.at < AGAIN_MS) return probed.problem;
  probed = { at: now, problem: probe(bwrap) };
  return probed.problem;
}

async function probe(bwrap: string): Promise<string | undefined> {
  try {
    await run(bwrap, [...walls, '--', 'true'], { timeout: PROBE_MS, env: childEnv(process.env) });
    return undefined;
  } catch (error) {
    const { message } = readThrown(error);
    return `bubblewrap does not work on this machine (${message.split('\n').at(1)?.trim() ?? message})`;
  }
}

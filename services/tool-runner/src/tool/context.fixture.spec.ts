import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runTool, type RunOptions, type ToolResult } from './run-tool.js';
import type { Tool, ToolContext } from './tool.js';
import { Workspace } from './workspace.js';

/** A context for tests on real files. */
export function contextOf(workspace: Workspace, more: Partial<ToolContext> = {}): ToolContext {
  return {
    tenant: 'acme',
    session: 's1',
    callId: 'c1',
    effectId: 'e1',
    workspace,
    sandbox: 'none',
    signal: new AbortController().signal,
    limitMs: 120_000,
    progress: () => undefined,
    log: { info: () => undefined, warn: () => undefined },
    ...more,
  };
}

export interface TestWorkspace {
  root: string;
  /** Beside the workspace: nothing of a tool's may touch it. */
  outside: string;
  workspace: Workspace;
  run(tool: Tool, args: Record<string, unknown>, more?: Partial<ToolContext> & RunOptions): Promise<ToolResult>;
  remove(): Promise<void>;
}

export async function temporaryWorkspace(): Promise<TestWorkspace> {
  const base = await mkdtemp(join(tmpdir(), 'jetloop-tools-'));
  const [root, outside] = [join(base, 'workspace'), join(base, 'outside')];
  await Promise.all([mkdir(root), mkdir(outside)]);
  const workspace = await Workspace.open(root);
  return {
    root,
    outside,
    workspace,
    run: (tool, args, { timeoutMs, ...more } = {}) =>
      runTool(tool, args, contextOf(workspace, more), timeoutMs === undefined ? {} : { timeoutMs }),
    remove: () => rm(base, { recursive: true, force: true }),
  };
}

export const textOf = (result: Pick<ToolResult, 'content'>) =>
  result.content.map((block) => (block.type === 'text' ? block.text : JSON.stringify(block))).join('\n');

import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { JetloopClient, type SessionEntry } from '@jetloop/client';
import { parsePolicySet, type PolicySet } from '@jetloop/hook-policy';
import { runAuditQuery } from '@jetloop/persistence';
import type { ProcessesOptions, Standalone, StandaloneOptions } from '@jetloop/standalone';
import { defaultAgent } from '../agent/default-agent.js';
import { Progress } from '../render/progress.js';
import type { Terminal } from '../render/terminal.js';
import { AUDIT_QUERIES } from './audit-queries.js';
import { BrokenProject } from './broken-project.js';
import { demoModel } from './demo-model.js';
import { jsonShow, textShow, type Show } from './demo-show.js';

export interface DemoOptions {
  readonly json: boolean;
  /** Each service as a process of its own, started again when it is killed; default false: all in this one. */
  readonly processes?: boolean;
  readonly terminal: Terminal;
  readonly env?: NodeJS.ProcessEnv;
}

const TENANT = 'demo';
const SESSION = 'mend-the-cart';
const PROMPT = 'The tests of this project fail. Find out why and mend it.';
const TURN_LIMIT_MS = 300_000;

/**
 * The main job from beginning to end: servers and services start, an agent mends a project on disk under policies, and
 * the log and SQL show what happened. @returns the exit code: 0 only if the project was really mended
 */
export async function runDemo({ json, processes = false, terminal, env = process.env }: DemoOptions): Promise<number> {
  const started = Date.now();
  const show = json ? jsonShow(terminal) : textShow(terminal);
  const model = await demoModel(env);
  const project = await BrokenProject.create();
  try {
    show.title('Jetloop', `an agent mends a small project in ${project.folder}`, model.note);
    if (await project.isMended())
      throw new Error('The demo project is not broken: its tests pass before anything was done.');
    const progress = new Progress(json ? { ...terminal, isTTY: false } : terminal);
    const options = { workspaceRoots: [project.folder], catalogue: model.catalogue, policySets: [await guardrails()] };
    const services = await (processes
      ? startApart({ ...options, env, onProgress: progress.say, onRestart: show.note }, progress, show)
      : startTogether({ ...options, onProgress: progress.say, logLevel: 'error' }, progress));
    try {
      const entries = await runTurn(services.natsUrl, project.folder, show);
      show.section('The log of the session', `every fact is an event of evt.${TENANT}.${SESSION}.>`);
      show.timeline(entries);
      await services.projected();
      for (const { question, sql } of AUDIT_QUERIES) {
        show.section(question, sql);
        show.table(await runAuditQuery(services.databaseUrl, sql));
      }
    } finally {
      await services.stop();
    }
    const isMended = await project.isMended();
    show.verdict(isMended, Date.now() - started);
    return isMended ? 0 : 1;
  } finally {
    await project.remove();
  }
}

async function startTogether(options: StandaloneOptions, progress: Progress): Promise<Standalone> {
  progress.say('starting NATS, PostgreSQL and five services');
  const { startStandalone } = await import('@jetloop/standalone');
  return startStandalone(options).finally(() => {
    progress.done();
  });
}

async function startApart(options: ProcessesOptions, progress: Progress, show: Show): Promise<Standalone> {
  progress.say('starting NATS, PostgreSQL and five services, each in a process of its own');
  const { startProcesses } = await import('@jetloop/standalone');
  const services = await startProcesses(options).finally(() => {
    progress.done();
  });
  show.processes(services.pids());
  return services;
}

async function guardrails(): Promise<PolicySet> {
  const file = fileURLToPath(new URL('../../../../examples/policies/guardrails.yaml', import.meta.url));
  return parsePolicySet(await readFile(file, 'utf8'), 'examples/policies/guardrails.yaml');
}

async function runTurn(natsUrl: string, folder: string, show: Show): Promise<SessionEntry[]> {
  const client = await JetloopClient.connect({ natsUrl, tenant: TENANT, actor: 'demo' });
  const renderer = show.turn();
  const entries: SessionEntry[] = [];
  const stops = [
    client.live(
      SESSION,
      (delta) => {
        renderer?.delta(delta);
      },
      'delta',
    ),
    client.live(
      SESSION,
      (output) => {
        renderer?.output(output);
      },
      'tool',
    ),
  ];
  try {
    const { messageId } = await client.create({
      session: SESSION,
      agent: { spec: defaultAgent },
      workspace: folder,
      prompt: PROMPT,
    });
    await client.turnOf(SESSION, messageId, {
      signal: AbortSignal.timeout(TURN_LIMIT_MS),
      onEvent: (entry) => {
        entries.push(entry);
        renderer?.event(entry);
      },
    });
    return entries;
  } finally {
    for (const stop of stops) stop();
    await client.close();
  }
}

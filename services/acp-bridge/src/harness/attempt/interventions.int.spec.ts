import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { acpCommandSchema, agentSpecSchema, type HarnessEvent } from '@jetloop/contracts';
import { Outbox } from '../log/outbox.js';
import { AgentProcess } from '../process/agent-process.js';
import { GroupReaper } from '../process/group-reaper.js';
import { Secrets } from '../process/secrets.js';
import { Attempt, type AttemptEnd } from './attempt.js';
import { supportedInterventions, type Intervention } from './interventions.js';
import { defaultTimes } from './times.js';

/** Advertises all that there is, asks for a permission, and answers its prompt when it is cancelled. Keeps what it reads. */
const PROGRAM = `
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const send = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
const all = { loadSession: true, steer: true, inject: true, pause: true, budget: true, sessionCapabilities: { resume: {}, fork: {} } };
let prompt;
createInterface({ input: process.stdin }).on('line', (line) => {
  appendFileSync(process.argv[2], line + '\\n');
  const { id, method } = JSON.parse(line);
  if (method === 'initialize') send({ id, result: { protocolVersion: 1, agentCapabilities: all } });
  if (method === 'session/new') send({ id, result: { sessionId: 'agent-1' } });
  if (method === 'session/cancel') send({ id: prompt, result: { stopReason: 'cancelled' } });
  if (method !== 'session/prompt') return;
  prompt = id;
  const update = { sessionUpdate: 'session_info_update', title: 'running' };
  send({ method: 'session/update', params: { sessionId: 'agent-1', update } });
});
`;

const refused: readonly Intervention[] = [
  { kind: 'inject_message', lane: 'steer', text: 'left' },
  { kind: 'inject_message', lane: 'inject', text: 'a fact' },
  { kind: 'pause_resume', paused: true },
  { kind: 'update_budget', tokens: 5 },
  { kind: 'respond_to_approval', approvalId: '1-1-acp-1-2', approved: true },
];

describe('interventions in an agent that runs, over its pipe', () => {
  const reaper = new GroupReaper();
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'jetloop-interventions-'));
    await writeFile(join(folder, 'agent.mjs'), PROGRAM);
  });
  afterAll(async () => {
    reaper.close();
    await rm(folder, { recursive: true });
  });

  /** An attempt whose prompt is open, and what came of it so far. */
  const running = async (permissionPolicy: 'deny' | 'allow_once' | 'ask') => {
    const wire = join(folder, `${permissionPolicy}.wire`);
    await writeFile(wire, '');
    const harness = { kind: 'acp' as const, command: process.execPath, permissionPolicy };
    const agent = agentSpecSchema.parse({ name: 'external', tools: [], harness });
    const log: HarnessEvent[] = [];
    const isRunning = Promise.withResolvers<undefined>();
    const outbox = new Outbox({
      from: 0,
      maxBytes: 100_000,
      batchMs: 1,
      shrink: (event) => Promise.resolve(event),
      // The log has it at once.
      publish: (_from, batch) => {
        const events = batch.map((text) => JSON.parse(text) as HarnessEvent);
        const recorded = events.map((event, n) => ({ ...event, sequence: log.length + n, version: 1 }));
        log.push(...events);
        setImmediate(() => {
          attempt.onEvents(recorded);
        });
        if (JSON.stringify(events).includes('running')) isRunning.resolve(undefined);
        return Promise.resolve();
      },
      onFlow: () => undefined,
      onFailure: (error) => {
        isRunning.reject(error);
      },
    });
    const where = { tenant: 't', session: 's', turn: 1, step: 1, attempt: 1, upTo: 4 };
    const since = new Date().toISOString();
    const deadline = new Date(Date.now() + 3_600_000).toISOString();
    const attempt: Attempt = new Attempt({
      command: acpCommandSchema.parse({
        ...where,
        commandId: 't.s.1.1.acp.1',
        what: 'acp',
        since,
        deadline,
        op: 'run',
      }),
      log: { agent, workspace: folder, standing: 'open', next: 0, shookHands: false, agentSession: undefined },
      outbox,
      live: { publish: () => undefined, end: () => undefined } as never,
      secrets: new Secrets(),
      times: { ...defaultTimes, terminateMs: 500, killMs: 1_000 },
      prompt: [{ type: 'text', text: 'go' }],
      prepare: () => {
        const program = { command: process.execPath, args: [join(folder, 'agent.mjs'), wire], cwd: folder, env: {} };
        return Promise.resolve({
          cwd: folder,
          mcpServers: [],
          spawn: (listener) => AgentProcess.start({ ...program, secrets: new Secrets() }, reaper, listener),
        });
      },
      readLog: () => Promise.resolve(),
      storeReplay: () => Promise.resolve(null),
    });
    const end: Promise<AttemptEnd> = attempt.run();
    await isRunning.promise;
    return { attempt, end, log, wire: () => readFile(wire, 'utf8') };
  };

  it.each(['deny', 'allow_once', 'ask'] as const)(
    'A3 A32 under %s: each of the four is refused by its label, without an event or a byte; a cancel is its notification; then the target is stale',
    async (policy) => {
      const { attempt, end, log, wire } = await running(policy);
      const [before, known] = [await wire(), log.length];
      for (const intervention of refused)
        expect(attempt.intervene(intervention)).toEqual({
          refused: 'CapabilityNotSupported',
          primitive: intervention.kind,
        });
      const accepted = [...refused, { kind: 'cancel' as const }].filter((one) => 'frames' in attempt.intervene(one));
      expect(accepted.map(({ kind }) => kind)).toEqual([...supportedInterventions]);
      expect(supportedInterventions.size).toBe(1);
      // What was written before it would have been read before it: this is all.
      expect(await end).toMatchObject({ outcome: 'aborted', stopReason: 'cancelled' });
      const cancel = '{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"agent-1"}}\n';
      expect(await wire()).toBe(`${before}${cancel}`);
      expect(log.slice(known).map(({ data }) => 'source' in data && data.source)).toEqual(['session/prompt']);
      expect(attempt.intervene({ kind: 'cancel' })).toEqual({ refused: 'StaleTarget' });
      for (const one of refused) expect(attempt.intervene(one)).toMatchObject({ primitive: one.kind });
    },
  );
});

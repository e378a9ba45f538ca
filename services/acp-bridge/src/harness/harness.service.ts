import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import type { AcpCommand, ContentBlock } from '@jetloop/contracts';
import {
  BlobStore,
  Bus,
  ClaimCheck,
  LiveChannel,
  RetryableError,
  SessionReader,
  type Delivery,
} from '@jetloop/messaging';
import { ACP_BRIDGE_OPTIONS, type AcpBridgeOptions } from '../options.js';
import { Attempt } from './attempt/attempt.js';
import { bridgeLost } from './attempt/bridge-lost.js';
import { transport } from './attempt/harness-failure.js';
import { LiveDeltas } from './attempt/live-deltas.js';
import { mcpServersOf } from './attempt/mcp-servers.js';
import { promptBlocks } from './attempt/prompt-content.js';
import { defaultTimes } from './attempt/times.js';
import { openFolder } from './attempt/open-folder.js';
import { readAttemptLog, type AttemptLog } from './log/attempt-log.js';
import { claimCheck } from './log/claim-check.js';
import { HarnessReplies } from './log/harness-replies.js';
import { Outbox } from './log/outbox.js';
import { SessionLog } from './log/session-log.js';
import { untilStored } from './log/until-stored.js';
import { agentEnv, MissingSecretError } from './process/agent-env.js';
import { AgentProcess, type AgentListener } from './process/agent-process.js';
import { GroupReaper } from './process/group-reaper.js';
import { Secrets } from './process/secrets.js';

type Events = Awaited<ReturnType<SessionReader['readAll']>>;

/** Carries out `cmd.acp`: one attempt at a harness turn, with many replies (spec 6.5). */
@Injectable()
export class HarnessService implements OnModuleDestroy {
  private readonly reaper = new GroupReaper();
  /** By command id. */
  private readonly running = new Map<string, Promise<void>>();

  constructor(
    private readonly bus: Bus,
    private readonly reader: SessionReader,
    private readonly live: LiveChannel,
    private readonly blobs: BlobStore,
    private readonly contents: ClaimCheck,
    @Inject(ACP_BRIDGE_OPTIONS) private readonly options: AcpBridgeOptions,
  ) {}

  onModuleDestroy(): void {
    this.reaper.close();
  }

  /** Resolves once the attempt's last reply is stored, or nobody waits for it. */
  run(command: AcpCommand, delivery: Delivery): Promise<void> {
    const { commandId } = command;
    // A command that comes again while it runs here was slow, not lost.
    const running = this.running.get(commandId);
    if (running) return running;
    const run = this.carryOut(command, delivery).finally(() => this.running.delete(commandId));
    this.running.set(commandId, run);
    return run;
  }

  private async carryOut(command: AcpCommand, delivery: Delivery): Promise<void> {
    await this.reader.read(command.tenant, command.session, command.upTo);
    const events = [...(await this.reader.readAll(command.tenant, command.session))];
    const log = readAttemptLog(events, command);
    if (!log || log.standing === 'over') return;
    // The first delivery of a command whose attempt began already is another message of the same: its run goes on.
    const isFirst = delivery.deliveries === 1;
    if (isFirst && log.shookHands) return;
    const replies = new HarnessReplies(this.bus, command, delivery.signal);
    const nothing = { exit: null, stderr: '' };
    if (log.standing === 'cancelling') await replies.finish(log.next, { outcome: 'aborted', ...nothing });
    else if (log.shookHands)
      await replies.finish(log.next, { outcome: 'error', error: bridgeLost().error, ...nothing });
    else await this.attempt(command, log, events, replies, delivery);
  }

  private async attempt(
    command: AcpCommand,
    log: AttemptLog,
    events: Events,
    replies: HarnessReplies,
    { signal, deliveries }: Delivery,
  ): Promise<void> {
    const { tenant, session } = command;
    const times = { ...defaultTimes, ...this.options.times };
    const secrets = new Secrets();
    const put = (bytes: Buffer, mediaType: string) =>
      untilStored(signal, () => this.blobs.put(tenant, session, bytes, mediaType));
    const keep = (blocks: readonly ContentBlock[]) =>
      untilStored(signal, () => this.contents.keep(tenant, session, blocks, Infinity));
    const prompt = promptBlocks(events, command.turn, command.step);
    const outbox = new Outbox({
      from: log.next,
      maxBytes: Math.floor(this.bus.maxPayload / 2),
      batchMs: times.batchMs,
      shrink: (event) => claimCheck(event, { put, keep }),
      publish: async (from, batch) => {
        const isDuplicate = await replies.events(from, batch);
        if (!isDuplicate || from !== log.next) return;
        // Somebody else began this attempt: where it goes on, this run is one too many; where it is gone, so is the attempt.
        if (deliveries === 1) attempt.abandon();
        else attempt.fail(bridgeLost());
      },
      onFlow: (mayRead) => {
        if (mayRead) running?.release('log');
        else running?.hold('log');
      },
      onFailure: (error) => {
        attempt.fail(error);
      },
    });
    let running: AgentProcess | undefined;
    const follower = new SessionLog(this.bus, this.reader, command, events.length, (more) => {
      attempt.onEvents(more);
    });
    const attempt = new Attempt({
      command,
      log,
      outbox,
      live: new LiveDeltas(this.live, command),
      secrets,
      times,
      prompt: await this.contents.restore(tenant, session, prompt),
      prepare: async () => {
        const { program, mcpServers } = await this.prepare(command, log, secrets);
        const spawn = async (listener: AgentListener) =>
          (running = await AgentProcess.start(program, this.reaper, listener));
        return { cwd: program.cwd, mcpServers, spawn };
      },
      readLog: () => follower.read(),
      storeReplay: async (lines) => {
        const bytes = Buffer.concat(lines.flatMap((line) => [secrets.bytes(line), Buffer.from('\n')]));
        return { ...(await put(bytes, 'application/x-ndjson')) };
      },
    });
    const stopping = Promise.withResolvers<never>();
    stopping.promise.catch(() => undefined); // it may stop before anybody waits for that
    const stop = () => {
      attempt.abandon();
      stopping.reject(new RetryableError('the bridge stops'));
    };
    signal.addEventListener('abort', stop, { once: true });
    follower.start();
    try {
      const end = await attempt.run();
      if (signal.aborted) throw new RetryableError('the bridge stops');
      if (!end) return;
      await Promise.race([outbox.inLog(), attempt.over, stopping.promise]);
      await replies.finish(outbox.next, end);
    } finally {
      signal.removeEventListener('abort', stop);
      follower.stop();
      outbox.close();
    }
  }

  /** @throws HarnessFailure when the program cannot even be tried */
  private async prepare(
    { tenant, session }: AcpCommand,
    { agent, workspace }: AttemptLog,
    secrets: Secrets,
  ): Promise<{
    program: Parameters<typeof AgentProcess.start>[0];
    mcpServers: Awaited<ReturnType<typeof mcpServersOf>>;
  }> {
    const { harness } = agent;
    if (!harness) throw transport('no_harness', 'The agent of this session has no harness.');
    try {
      const cwd = await openFolder(this.options.workspaceRoots, { tenant, session, workspace }, harness.cwd);
      const env = await agentEnv(harness.env, process.env, secrets);
      const mcpServers = await mcpServersOf(agent, process.env, secrets);
      return { program: { command: harness.command, args: harness.args, cwd, env, secrets }, mcpServers };
    } catch (error) {
      if (error instanceof MissingSecretError) throw transport('spawn', error.message);
      throw error;
    }
  }
}

import { Inject, Injectable } from '@nestjs/common';
import { jsonBytes, type CallerCommand, type Outcome, type OutcomeCode, type Reply } from '@jetloop/contracts';
import { MAX_BLOCK_BYTES } from '@jetloop/messaging';
import type { ResolvedCreate, SessionCommand } from '@jetloop/session';
import { AgentResolver, ResolveError } from '../agent/agent.resolver.js';
import { ParentReader } from '../session/parent.reader.js';
import { ORCHESTRATOR_OPTIONS, type OrchestratorOptions } from '../options.js';
import { resolveWorkspace } from '../agent/workspace.js';
import { ContentKeeper } from './content.keeper.js';
import type { ParsedInbox } from './parse-inbox.js';

/** A command ready to be decided, and who sent it. */
export interface ResolvedCommand {
  readonly command: SessionCommand;
  readonly actor: string;
}

export type Resolution = ({ readonly kind: 'command' } & ResolvedCommand) | Refusal;

/** `parent`: whose call asked for the session that will not be. */
export interface Refusal {
  readonly kind: 'refused';
  readonly commandId: string;
  readonly outcome: Extract<Outcome, { status: 'refused' }>;
  readonly parent?: { readonly session: string; readonly callId: string };
}

type Create = Extract<CallerCommand, { kind: 'create' }>;

/** JSON bytes of a prompt's content at most: what one message to the inbox can carry. */
export const MAX_CONTENT_BYTES = 768 * 1024;

/** Turns what came in into what `decide` takes: looks up the agent and checks the workspace of a `create`. */
@Injectable()
export class CommandResolver {
  constructor(
    private readonly agents: AgentResolver,
    private readonly parents: ParentReader,
    private readonly contents: ContentKeeper,
    @Inject(ORCHESTRATOR_OPTIONS) private readonly options: OrchestratorOptions,
  ) {}

  /** @throws RetryableError when a session that is named could not be read */
  async resolve(inbox: ParsedInbox): Promise<Resolution> {
    switch (inbox.from) {
      case 'caller-invalid':
        return refused(inbox.commandId, 'invalid', inbox.problem);
      case 'timer': {
        const commandId = `timer.${inbox.timer.name}.${inbox.timer.dueAt}`;
        return { kind: 'command', actor: 'timer', command: { from: 'timer', commandId, timer: inbox.timer } };
      }
      case 'worker': {
        const reply = isLarge(inbox)
          ? await this.contents.ofReply(inbox.tenant, inbox.session, inbox.reply)
          : inbox.reply;
        return {
          kind: 'command',
          actor: reply.kind,
          command: { from: 'worker', commandId: replyId(reply), reply },
        };
      }
      case 'caller':
        return await this.resolveCaller(inbox, inbox.command);
    }
  }

  private async resolveCaller(inbox: ParsedInbox, sent: CallerCommand): Promise<Resolution> {
    const { tenant, session } = inbox;
    const { actor, commandId } = sent;
    const content = sent.kind === 'create' ? sent.prompt?.content : 'content' in sent ? sent.content : undefined;
    const size = content && isLarge(inbox) ? jsonBytes(content) : 0;
    if (size > MAX_CONTENT_BYTES) {
      return refused(
        commandId,
        'too_large',
        `The content is ${size} bytes: expected at most ${MAX_CONTENT_BYTES}. Put long material into a file of the workspace.`,
      );
    }
    const command = isLarge(inbox) ? await this.contents.ofCaller(tenant, session, sent) : sent;
    if (command.kind !== 'create' && command.kind !== 'fork')
      return { kind: 'command', actor, command: { from: 'caller', command } };
    try {
      const resolved =
        command.kind === 'fork'
          ? await this.parents.fork(tenant, session, command)
          : await this.create(tenant, session, command);
      return { kind: 'command', actor, command: { from: 'caller', command: resolved } };
    } catch (error) {
      if (!(error instanceof ResolveError)) throw error;
      const { outcome, ...rest } = refused(commandId, error.code, error.message);
      const parent = command.kind === 'create' ? command.parent : undefined;
      return { ...rest, outcome, ...(parent ? { parent } : {}) };
    }
  }

  /** @throws ResolveError */
  private async create(tenant: string, session: string, command: Create): Promise<ResolvedCreate> {
    const agent = this.agents.resolve(tenant, command.agent);
    const workspace = resolveWorkspace(this.options.workspaceRoots, tenant, session, command.workspace);
    const resolved = { ...command, agent, workspace };
    return command.parent ? await this.parents.child(tenant, session, resolved, command.parent) : resolved;
  }
}

/** Whether it can hold anything that has to be kept outside the log: most messages need no look. */
function isLarge({ bytes }: ParsedInbox): boolean {
  return bytes > MAX_BLOCK_BYTES;
}

/** The id of a reply: the one of its message. A harness answers more than once. */
function replyId(reply: Reply): string {
  const isOneOfMany = (reply.kind === 'harness.events' || reply.kind === 'harness.finished') && reply.from !== null;
  return `${reply.commandId}:reply${isOneOfMany ? `:${reply.from}` : ''}`;
}

function refused(commandId: string, code: OutcomeCode, message: string): Refusal {
  return { kind: 'refused', commandId, outcome: { status: 'refused', code, message } };
}

import { Inject, Injectable } from '@nestjs/common';
import type { CallerCommand, Outcome, OutcomeCode } from '@jetloop/contracts';
import type { SessionCommand } from '@jetloop/session';
import { AgentResolver, ResolveError } from '../agent/agent.resolver.js';
import { ORCHESTRATOR_OPTIONS, type OrchestratorOptions } from '../options.js';
import { resolveWorkspace } from '../agent/workspace.js';
import type { ParsedInbox } from './parse-inbox.js';

/** A command ready to be decided, and who sent it. */
export interface ResolvedCommand {
  readonly command: SessionCommand;
  readonly actor: string;
}

export type Resolution =
  | ({ readonly kind: 'command' } & ResolvedCommand)
  | { readonly kind: 'refused'; readonly commandId: string; readonly outcome: Outcome };

/** JSON bytes of a prompt's content at most: its commit, which may hold it twice, must fit one message. */
export const MAX_CONTENT_BYTES = 256 * 1024;

/** Turns what came in into what `decide` takes: looks up the agent and checks the workspace of a `create`. */
@Injectable()
export class CommandResolver {
  constructor(
    private readonly agents: AgentResolver,
    @Inject(ORCHESTRATOR_OPTIONS) private readonly options: OrchestratorOptions,
  ) {}

  resolve(inbox: ParsedInbox): Resolution {
    switch (inbox.from) {
      case 'caller-invalid':
        return refused(inbox.commandId, 'invalid', inbox.problem);
      case 'timer': {
        const commandId = `timer.${inbox.timer.name}.${inbox.timer.dueAt}`;
        return { kind: 'command', actor: 'timer', command: { from: 'timer', commandId, timer: inbox.timer } };
      }
      case 'worker': {
        const { reply } = inbox;
        return {
          kind: 'command',
          actor: reply.kind,
          command: { from: 'worker', commandId: `${reply.commandId}:reply`, reply },
        };
      }
      case 'caller':
        return this.resolveCaller(inbox.tenant, inbox.session, inbox.command);
    }
  }

  private resolveCaller(tenant: string, session: string, command: CallerCommand): Resolution {
    const { actor, commandId } = command;
    const content =
      command.kind === 'create' ? command.prompt?.content : 'content' in command ? command.content : undefined;
    const size = content ? Buffer.byteLength(JSON.stringify(content)) : 0;
    if (size > MAX_CONTENT_BYTES) {
      return refused(
        commandId,
        'too_large',
        `The content is ${size} bytes: expected at most ${MAX_CONTENT_BYTES}. Put long material into a file of the workspace.`,
      );
    }
    if (command.kind !== 'create') return { kind: 'command', actor, command: { from: 'caller', command } };
    try {
      const agent = this.agents.resolve(tenant, command.agent);
      const workspace = resolveWorkspace(this.options.workspaceRoots, tenant, session, command.workspace);
      return { kind: 'command', actor, command: { from: 'caller', command: { ...command, agent, workspace } } };
    } catch (error) {
      if (error instanceof ResolveError) return refused(commandId, error.code, error.message);
      throw error;
    }
  }
}

function refused(commandId: string, code: OutcomeCode, message: string): Resolution {
  return { kind: 'refused', commandId, outcome: { status: 'refused', code, message } };
}

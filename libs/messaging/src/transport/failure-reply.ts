import type { HookCommand, HookReply, LlmReply, ToolReply, WorkCommand } from '@jetloop/contracts';

/** The reply that tells a session that its command will not be carried out, so that no session waits for ever. */
export function failureReply(
  kind: 'llm' | 'tool' | 'hook',
  command: WorkCommand,
  code: 'dead_lettered' | 'expired',
  message: string,
): LlmReply | ToolReply | HookReply {
  const { commandId } = command;
  switch (kind) {
    case 'llm':
      return {
        commandId,
        kind,
        result: { status: 'error', error: { code, message, retryable: false }, cost: null, attempts: [] },
      };
    case 'tool':
      return { commandId, kind, result: { status: 'failed', error: { code, message } } };
    case 'hook': {
      const seam = isHookCommand(command) ? command.subject.seam : 'pre-tool';
      return {
        commandId,
        kind,
        seam,
        observed: [],
        result: { status: 'failed', policy: 'hook-policy', error: { code, message } },
      };
    }
  }
}

function isHookCommand(command: WorkCommand): command is HookCommand {
  return 'subject' in command;
}

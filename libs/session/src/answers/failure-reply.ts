import type { HarnessFinished, HookReply, LlmReply, ToolReply } from '@jetloop/contracts';
import type { AwaitedWork } from '../work/work.js';

/** The reply that tells a session that its work will not be carried out, so that no session waits for ever. */
export function failureReply(
  work: AwaitedWork,
  code: 'dead_lettered' | 'expired',
  message: string,
): LlmReply | ToolReply | HookReply | HarnessFinished {
  const { kind, command } = work;
  const { commandId } = command;
  switch (kind) {
    case 'llm': {
      const error = { code, message, retryable: false };
      return { commandId, kind, result: { status: 'error', error, cost: null, attempts: [] } };
    }
    case 'tool':
      return { commandId, kind, result: { status: 'failed', error: { code, message } } };
    case 'hook': {
      const failed = { status: 'failed' as const, policy: 'hook-policy', error: { code, message } };
      const { subject } = command;
      const asked = subject.seam === 'post-tool' ? { asked: subject.result } : {};
      return { commandId, kind, seam: subject.seam, ...asked, hooks: [], observed: [], result: failed };
    }
    case 'acp': {
      const { turn, attempt } = command;
      const error = { name: 'Transport' as const, code, message };
      const gone = { from: null, exit: null, stderr: '' };
      return { commandId, kind: 'harness.finished', turn, attempt, ...gone, outcome: 'error', error };
    }
  }
}

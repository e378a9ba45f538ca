import { controlTools, type ControlTool, type Json, type SettledResult } from '@jetloop/contracts';
import type { CallState } from '../state.js';
import { isQuestion, mayRun } from './approval.js';
import { errorResult } from './error-result.js';

/** The result of a call that the loop carries out itself, once it is known. */
export function controlResult(name: ControlTool, call: CallState): SettledResult | undefined {
  const { decided, approval } = call;
  if (!decided || !(mayRun(call) || isQuestion(approval))) return undefined;
  const problem = controlProblem(name, decided.effective);
  if (problem) {
    const text = `The arguments of ${name} cannot be used: ${problem}.`;
    return errorResult({ name: 'InvalidArguments', code: 'invalid_arguments', text });
  }
  switch (name) {
    case 'todo_write':
      return said('The list was replaced.', { ...decided.effective });
    case 'ask_user':
      return isQuestion(approval) && approval?.outcome === 'approved'
        ? said(approval.note ?? '(no answer)')
        : undefined;
    case 'spawn_agent':
      return undefined;
  }
}

/** Why the arguments do not fit; undefined when they do. */
function controlProblem(name: ControlTool, effective: Record<string, Json> | null): string | undefined {
  const parsed = controlTools[name].input.safeParse(effective ?? {});
  if (parsed.success) return undefined;
  return parsed.error.issues.map(({ path, message }) => `${path.join('.') || 'arguments'}: ${message}`).join('; ');
}

function said(text: string, output?: Json): SettledResult {
  return {
    content: [{ type: 'text', text }],
    ...(output === undefined ? {} : { output }),
    isError: false,
    durationMs: 0,
  };
}

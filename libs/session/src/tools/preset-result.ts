import { isControlTool, type SettledResult } from '@jetloop/contracts';
import { isCutShort } from '../evolve/apply-turn.js';
import type { CallState, SessionState, StepState } from '../state.js';
import { notApproved } from './approval.js';
import { controlResult } from './control-result.js';
import { errorResult } from './error-result.js';

/** The result of a recorded call that no worker runs: it follows from the log alone. Undefined: a worker, a child or a person gives it. */
export function presetResult(
  { agent }: Pick<SessionState, 'agent'>,
  step: StepState,
  call: CallState,
): SettledResult | undefined {
  if (!call.decided) return undefined;
  if (step.answer && isCutShort(step.answer.finishReason)) {
    const text = `This call was not run: the answer that holds it ended early (${step.answer.finishReason}).`;
    return errorResult({ name: 'NotRun', code: 'not_run', text });
  }
  if (!call.facts) return agent.readonly ? notReadonly(call.name) : unknown(call.name);
  if (!call.parsed.ok) {
    const text = `The arguments of ${call.name} cannot be used: ${call.parsed.problem}.`;
    return errorResult({ name: 'InvalidArguments', code: 'invalid_arguments', text });
  }
  if (call.denial) return denied(call.denial);
  if (call.reevaluating) return undefined;
  return notApproved(call) ?? (isControlTool(call.name) ? controlResult(call.name, call) : undefined);
}

function unknown(name: string): SettledResult {
  const text = `There is no tool named ${JSON.stringify(name)}. Use one of the tools that are listed.`;
  return errorResult({ name: 'UnknownTool', code: 'unknown_tool', text });
}

/** The list of a readonly session leaves out what is not readonly: whether there is such a tool, the log does not say. */
function notReadonly(name: string): SettledResult {
  const tool = JSON.stringify(name);
  const text = `${tool} is refused: this session is in readonly mode, and has no readonly tool of that name. Use one of the tools that are listed.`;
  return errorResult({ name: 'ReadonlyMode', code: 'readonly', text });
}

function denied({ policy, decision, reason }: NonNullable<CallState['denial']>): SettledResult {
  const text =
    decision === 'deny' ? `Denied by policy ${policy}: ${reason}` : `Denied: policy ${policy} failed (${reason}).`;
  return errorResult({ name: 'Denied', code: 'denied', text });
}

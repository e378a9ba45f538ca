import { isControlTool } from '@jetloop/contracts';
import { currentGroup } from '../tools/groups.js';
import { mayRun } from '../tools/approval.js';
import { presetResult } from '../tools/preset-result.js';
import { workStep } from '../evolve/in-turn.js';
import { joining } from '../next/joining.js';
import { wantsToolList } from '../next/tool-list.js';
import type { CallState, CompactionState, SessionState, StepState, TurnState } from '../state.js';
import { harnessWork } from '../harness/harness-work.js';
import { hookWork } from './hook-work.js';
import type { AwaitedWork } from './work.js';
import { workCommon, type WorkPosition } from './work-common.js';

/** Work whose reply counts: a reply to anything else is late. */
export function awaitedWork(state: SessionState): AwaitedWork[] {
  const { start, turn } = state;
  return [...(start ? [hookWork.sessionStart(state, start)] : []), ...(turn ? turnWork(state, turn) : [])];
}

/** A cancelled turn waits for what may have had an effect or used tokens; the rest is not waited for. */
export function delaysCancel(work: AwaitedWork): boolean {
  return work.kind === 'llm' || work.kind === 'acp' || (work.kind === 'tool' && work.command.op === 'call');
}

function turnWork(state: SessionState, turn: TurnState): AwaitedWork[] {
  switch (turn.phase.at) {
    case 'prompts':
      return turn.phase.pending.slice(0, 1).flatMap((messageId) => hookWork.promptSubmit(state, turn, messageId));
    case 'after-step':
      return turn.phase.asks && !turn.phase.decided ? hookWork.continuation(state, turn) : beforeStep(state, turn);
    case 'between-steps':
      return beforeStep(state, turn);
    case 'step':
      return stepWork(state, turn, turn.phase.step);
  }
}

/** What a step waits for before it begins: the list of tools, steering that joins, a compaction, the policies. */
function beforeStep(state: SessionState, turn: TurnState): AwaitedWork[] {
  if (turn.compaction) return compactionWork(state, turn, turn.compaction);
  const first = [...(wantsToolList(state, turn) ? [toolList(state, turn)] : []), ...joiningHook(state, turn)];
  return first.length > 0 ? first : [hookWork.preStep(state, turn)];
}

function stepWork(state: SessionState, turn: TurnState, step: StepState): AwaitedWork[] {
  if (turn.compaction) return compactionWork(state, turn, turn.compaction);
  if (step.harness) return [harnessWork(state, turn, step)];
  if (!step.answer) return [llmCall(state, turn, step)];
  const group = currentGroup(step.answer.calls);
  if (!group) return joiningHook(state, turn);
  const undecided = group.find((call) => call.decided === undefined);
  if (undecided) return hookWork.preTool(state, turn, step, undecided);
  return group.flatMap((call) => callWork(state, turn, step, call));
}

function callWork(state: SessionState, turn: TurnState, step: StepState, call: CallState): AwaitedWork[] {
  if (call.settled) return [];
  if (call.reevaluating && !call.denial) return hookWork.preTool(state, turn, step, call);
  const preset = presetResult(state, step, call);
  if (preset) return [hookWork.postTool(state, turn, step, call, preset)];
  return mayRun(call) && !isControlTool(call.name) ? runningCall(state, turn, step, call) : [];
}

function compactionWork(state: SessionState, turn: TurnState, compaction: CompactionState): AwaitedWork[] {
  if (compaction.stage === 'wanted') return hookWork.preCompact(state, turn, compaction);
  const common = workCommon(state, here(turn), 'compact', compaction.at, state.agent.deadlines.llm, compaction.before);
  return [{ kind: 'llm', command: { ...common, upTo: compaction.sequence, purpose: 'compaction' } }];
}

function llmCall(state: SessionState, turn: TurnState, step: StepState): AwaitedWork {
  return {
    kind: 'llm',
    command: {
      ...workCommon(state, here(turn), 'llm', step.at, state.agent.deadlines.llm),
      upTo: step.sequence,
      purpose: 'step',
      ...(state.tools ? { toolsDigest: state.tools.digest } : {}),
      ...(turn.output ? { output: turn.output } : {}),
    },
  };
}

function toolList(state: SessionState, turn: TurnState): AwaitedWork {
  const { agent } = state;
  return {
    kind: 'tool',
    command: {
      ...workCommon(state, here(turn), 'list', turn.startedAt, agent.deadlines.tool),
      op: 'list',
      tools: agent.tools,
      readonly: agent.readonly,
      servers: agent.mcpServers,
    },
  };
}

function runningCall(state: SessionState, turn: TurnState, step: StepState, call: CallState): AwaitedWork[] {
  const { decided, approval } = call;
  if (!decided?.effective) return [];
  const { agent } = state;
  const since = approval?.decidedAt ?? decided.at;
  const approved = approval && call.facts ? { schemaHash: call.facts.schemaHash } : {};
  return [
    {
      kind: 'tool',
      command: {
        ...workCommon(state, here(turn), `tool.${call.n}`, since, agent.deadlines.tool),
        upTo: decided.sequence,
        op: 'call',
        n: call.n,
        callId: call.callId,
        effectId: `${state.tenant}.${state.session}.${turn.turn}.${step.step}.${call.n}`,
        name: call.name,
        effective: decided.effective,
        ...approved,
        workspace: state.workspace,
        readonly: agent.readonly,
        sandbox: agent.sandbox,
        servers: agent.mcpServers,
      },
    },
  ];
}

/** Steering and injections pass the seam of prompts when they join, one after another. */
function joiningHook(state: SessionState, turn: TurnState): AwaitedWork[] {
  return joining(state)
    .slice(0, 1)
    .flatMap(({ messageId }) => hookWork.promptSubmit(state, turn, messageId));
}

function here(turn: TurnState): WorkPosition {
  return { turn: turn.turn, step: workStep(turn) };
}

import type { HookCommand, HookReply, SessionEvent } from '@jetloop/contracts';
import { openCalls } from '../evolve/in-turn.js';
import type { DecisionContext } from '../next/decision-context.js';
import type { SessionState, TurnState } from '../state.js';
import { answerMarks } from './policy-marks.js';
import { compactAnswered } from './compact-answered.js';
import { continuationAnswered } from './continuation-answered.js';
import { postToolAnswered } from './post-tool-answered.js';
import { preStepAnswered } from './pre-step-answered.js';
import { preToolAnswered } from './pre-tool-answered.js';
import { promptAnswered } from './prompt-answered.js';

/** What the answer of a seam makes of the open turn. Every answered seam leaves a mark in the log. */
export function hookAnswered(
  state: SessionState,
  turn: TurnState,
  { subject }: HookCommand,
  reply: HookReply,
  context: DecisionContext,
): SessionEvent[] {
  switch (subject.seam) {
    case 'session-start':
      return [];
    case 'prompt-submit': {
      const message = state.queue.find(({ messageId }) => messageId === subject.messageId);
      const marks = answerMarks(reply, { messageId: subject.messageId });
      return message ? [...marks, ...promptAnswered(turn, message, reply)] : marks;
    }
    case 'pre-step':
      return [...answerMarks(reply, {}), ...preStepAnswered(turn, reply)];
    case 'turn-continuation':
      return [...answerMarks(reply, {}), ...continuationAnswered(turn, reply)];
    case 'pre-compact':
      return [...answerMarks(reply, {}), ...compactAnswered(state, turn, reply)];
    case 'pre-tool':
    case 'post-tool': {
      const call = openCalls(state).find(({ n }) => n === subject.n);
      if (!call || turn.phase.at !== 'step') return [];
      const { step } = turn.phase.step;
      const events =
        subject.seam === 'pre-tool'
          ? preToolAnswered(state, turn, step, call, reply, context)
          : postToolAnswered(turn, step, call, reply, subject.result);
      return [...answerMarks(reply, { callId: call.callId }), ...events];
    }
  }
}

import type { AgentSpec, DerivedMessage, LlmCommand, RecordedEvent, UnknownEvent } from '@jetloop/contracts';
import { TerminalError } from '@jetloop/messaging';
import { agentOf, compactionMessages, deriveMessages } from '@jetloop/session';
import type { ToolSchema } from '../adapter/part.js';
import { jobFacts } from '../routing/job-facts.js';
import { order } from '../routing/order.js';
import type { RouteOptions } from '../routing/route-options.js';
import { compactionRange } from './compaction-state.js';

type Events = readonly (RecordedEvent | UnknownEvent)[];
export type Job = Pick<RouteOptions, 'order' | 'primary' | 'fallback' | 'facts' | 'request'>;

/**
 * What a command asks for, from the log up to `upTo` alone: every replica reads the same. A compaction has neither tools
 * nor an object as its answer.
 * @throws TerminalError `invalid` where the session has no model, or no compaction had begun
 */
export function readJob(command: LlmCommand, events: Events, schemas: readonly ToolSchema[]): Job {
  const { session, turn, step, upTo, purpose, output } = command;
  const seen = events.slice(0, upTo + 1);
  const agent = agentOf(seen);
  if (!agent?.model) throw new TerminalError('invalid', `session ${session} has no agent with a model`);
  const { model, systemPrompt } = agent;
  const isStep = purpose === 'step';
  const messages = isStep ? deriveMessages(seen) : summed(command, seen);
  // Where the answer is to be an object, tools are never told of.
  const tools = isStep && !output ? schemas : [];
  const facts = jobFacts({ events: seen, turn, thinking: model.thinking === true, systemPrompt, messages, tools });
  return {
    order: order(model.chain, seen, turn),
    primary: model.chain[0],
    fallback: model.fallback,
    // The images of a summary's range are told of in words where a target cannot see them.
    facts: isStep ? facts : { ...facts, images: [], afterToolRound: false },
    request: {
      systemPrompt,
      messages,
      tools,
      step,
      ...settings(model),
      ...(isStep && output ? { output } : {}),
    },
  };
}

function summed({ session, upTo }: LlmCommand, seen: Events): DerivedMessage[] {
  const range = compactionRange(seen, upTo);
  if (!range) throw new TerminalError('invalid', `session ${session}: no compaction had begun at event ${upTo}`);
  return compactionMessages(seen, range);
}

function settings({ temperature, maxTokens, thinking }: NonNullable<AgentSpec['model']>) {
  return {
    ...(temperature === undefined ? {} : { temperature }),
    ...(maxTokens === undefined ? {} : { maxTokens }),
    ...(thinking === undefined ? {} : { thinking }),
  };
}

import { isKnownEvent, type Attempt, type LlmCommand, type RecordedEvent, type UnknownEvent } from '@jetloop/contracts';

type Events = readonly (RecordedEvent | UnknownEvent)[];

/** What the log says of a model call before it is made. */
export interface CallState {
  /** settled: answered, over, or a later attempt was sent. cancelling: nobody waits for an answer any more. */
  readonly standing: 'open' | 'cancelling' | 'settled';
  /** Attempts that deferred replies of this step reported, since the conversation was compacted last. */
  readonly earlier: readonly Attempt[];
}

/** Whether the step still waits for this command's answer, and what was tried for it before. */
export function callState(
  events: Events,
  { turn, step, what, attempt }: Pick<LlmCommand, 'turn' | 'step' | 'what' | 'attempt'>,
): CallState {
  let standing: CallState['standing'] = 'open';
  let isInStep = false;
  const earlier: Attempt[] = [];
  for (const event of events.filter(isKnownEvent)) {
    if (event.type === 'step.start') isInStep = event.data.turn === turn && event.data.step === step;
    if (event.type === 'work.deferred' && isInStep && event.data.what === what) {
      if (event.data.attempt >= attempt) return { standing: 'settled', earlier };
      // The conversation is another one now: what could not take the longer one may take this.
      if (event.data.reason === 'context_overflow') earlier.length = 0;
      else earlier.push(...event.data.attempts);
    }
    if (!('turn' in event.data) || event.data.turn !== turn) continue;
    if (event.type === 'turn.end') return { standing: 'settled', earlier };
    if (event.type === 'assistant.message' && event.data.step === step) return { standing: 'settled', earlier };
    if (event.type === 'turn.cancelling') standing = 'cancelling';
  }
  return { standing, earlier };
}

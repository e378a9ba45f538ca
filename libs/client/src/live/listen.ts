import { liveDeltaSchema, liveToolSchema, subjects, type LiveDelta, type LiveTool } from '@jetloop/contracts';
import type { Bus } from '@jetloop/messaging';
import type { SessionAddress } from '../command/command-sender.js';

/** What is shown while it happens, by kind: pieces of a model's answer, output of running tools. */
export interface LiveValues {
  readonly delta: LiveDelta;
  readonly tool: LiveTool;
}

/** Ends a subscription. */
export type StopListening = () => void;

const schemas: {
  readonly [K in keyof LiveValues]: { safeParse(value: unknown): { data?: LiveValues[K] | undefined } };
} = {
  delta: liveDeltaSchema,
  tool: liveToolSchema,
};

/** Calls the listener for each live message. What does not fit the contract is left out: the log has the truth. */
export function listen<K extends keyof LiveValues>(
  bus: Bus,
  { tenant, session }: SessionAddress,
  listener: (value: LiveValues[K]) => void,
  kind: K,
): StopListening {
  const subscription = bus.nats.subscribe(subjects.live(tenant, session, kind), {
    callback: (error, message) => {
      const value = error ? undefined : schemas[kind].safeParse(parseJson(message.data)).data;
      if (value !== undefined) listener(value);
    },
  });
  return () => {
    subscription.unsubscribe();
  };
}

function parseJson(data: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(data).toString('utf8'));
  } catch {
    return undefined; // No JSON fits no contract.
  }
}

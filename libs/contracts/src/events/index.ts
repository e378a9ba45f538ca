import type { z } from 'zod';
import { messageEvents } from './message.js';
import { sessionEvents } from './session.js';
import { toolEvents } from './tool.js';
import { turnEvents } from './turn.js';

/** The data schema of every event type of version 1. Data only grows: a reader ignores what it does not know. */
export const eventSchemas = { ...sessionEvents, ...messageEvents, ...turnEvents, ...toolEvents } as const;

/** Types that this build writes and understands. */
export type EventType = keyof typeof eventSchemas;

/** The data of one event type. */
export type EventData<T extends EventType> = z.output<(typeof eventSchemas)[T]>;

/** A fact: its type decides its data. */
export type SessionEvent = { [T in EventType]: { readonly type: T; readonly data: EventData<T> } }[EventType];

/** Narrows to the event of one type. */
export type EventOf<T extends EventType> = Extract<SessionEvent, { type: T }>;

/** The version that this build writes for every type. */
export const EVENT_VERSION = 1;

export function isEventType(type: string): type is EventType {
  return Object.hasOwn(eventSchemas, type);
}

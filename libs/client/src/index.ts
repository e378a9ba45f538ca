export { MAX_CONTENT_BYTES, checkContent } from './command/check-content.js';
export { CommandRefusedError, SessionNotFoundError } from './errors.js';
export type { SessionEntry } from './events/session-entry.js';
export type { TurnOutcome } from './events/turn-of-message.js';
export {
  JetloopClient,
  type Accepted,
  type AcceptedMessage,
  type ClientOptions,
  type ConnectOptions,
  type CreateOptions,
  type DecideOptions,
  type EventsOptions,
  type MessageOptions,
  type PromptContent,
  type PromptOptions,
  type TurnOptions,
} from './jetloop-client.js';
export type { LiveValues, StopListening } from './live/listen.js';
export type { LastEvent, SessionSummary } from './sessions/list-sessions.js';

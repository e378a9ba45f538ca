export { MAX_CONTENT_BYTES, checkContent } from './command/check-content.js';
export { CommandRefusedError, SessionNotFoundError } from './errors.js';
export type { SessionEntry } from './events/session-entry.js';
export type { TurnOutcome } from './events/turn-of-message.js';
export { JetloopClient } from './jetloop-client.js';
export type { LiveValues, StopListening } from './live/listen.js';
export type {
  Accepted,
  AcceptedMessage,
  CancelOptions,
  ClientOptions,
  ConnectOptions,
  CreateOptions,
  DecideOptions,
  EventsOptions,
  MessageOptions,
  OutputOptions,
  PromptContent,
  PromptOptions,
  TurnOptions,
} from './options.js';
export type { LastEvent } from './sessions/last-event.js';
export type { SessionSummary } from './sessions/list-sessions.js';
export type { ListedSession, SessionPage, SessionPageOptions } from './sessions/session-pages.js';

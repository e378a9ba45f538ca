export { ApiError, Bus } from './connection/bus.js';
export {
  connectToNats,
  isSupported,
  MINIMUM_SERVER,
  ServerUnreachableError,
  UnsupportedServerError,
  withoutPassword,
} from './connection/connect.js';
export type { ConnectOptions } from './connection/connect.js';
export { Publisher } from './connection/publisher.js';
export type { PubAck } from './connection/publisher.js';
export { PublishRefusedError, PublishUnknownError, RetryableError, TerminalError } from './errors.js';
export { checkFaults, faultPoint } from './fault/fault-point.js';
export { FaultError } from './fault/parse-faults.js';
export { EventsStream, LostRaceError } from './journal/events-stream.js';
export type { EventsEnd, JournalPosition } from './journal/events-end.js';
export type { PublicEvent } from './journal/events-stream.js';
export { DamagedSessionError, decodeCommit, Journal } from './journal/journal.js';
export type { StoredCommit } from './journal/journal.js';
export type { JournalEntry } from './journal/journal-entry.js';
export { JournalFollower } from './journal/journal-follower.js';
export type { FollowOptions } from './journal/journal-follower.js';
export { SessionReader } from './journal/session-reader.js';
export { SessionView } from './journal/session-view.js';
export type { SessionFold } from './journal/session-view.js';
export { LiveChannel } from './live/live-channel.js';
export { isTurnOver, TurnWatch } from './live/turn-watch.js';
export type { TurnLook } from './live/turn-watch.js';
export { NoResponderError, RequestTooLargeError, ResponderChannel } from './request/responder-channel.js';
export { AgentStore } from './stores/agent-store.js';
export { BlobNotFoundError, BlobStore } from './stores/blob-store.js';
export { ClaimCheck, MAX_BLOCK_BYTES } from './stores/claim-check.js';
export { CooldownStore } from './stores/cooldown-store.js';
export type { Cooldown } from './stores/cooldown-store.js';
export { EffectStore } from './stores/effect-store.js';
export type { EffectEntry, StoredEffect } from './stores/effect-store.js';
export { PolicyStore } from './stores/policy-store.js';
export { restoreContents, restoreEvent } from './stores/restore-contents.js';
export { applyTopology, checkTopology, TopologyDriftError } from './topology/apply-topology.js';
export { commandConsumers, DUPLICATE_WINDOW_MS, topologyOf } from './topology/topology.js';
export type { CommandService, ConsumerTopology, Topology, TopologyOptions } from './topology/topology.js';
export { DeadLetters } from './transport/dead-letters.js';
export type { GivenUp } from './transport/dead-letters.js';
export type { Delivery, DeliveryInfo } from './transport/delivery.js';
export type { InboxMessage, InboxSettlement } from './transport/inbox-message.js';
export { parseJson } from './transport/parse-work.js';

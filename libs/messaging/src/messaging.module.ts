import { Module, type DynamicModule, type Provider } from '@nestjs/common';
import { Bus } from './connection/bus.js';
import { EventsStream } from './journal/events-stream.js';
import { Journal } from './journal/journal.js';
import { JournalFollower } from './journal/journal-follower.js';
import { SessionReader } from './journal/session-reader.js';
import { LiveChannel } from './live/live-channel.js';
import { TurnWatch } from './live/turn-watch.js';
import { ResponderChannel } from './request/responder-channel.js';
import { AgentStore } from './stores/agent-store.js';
import { ClaimCheck } from './stores/claim-check.js';
import { BlobStore } from './stores/blob-store.js';
import { PolicyStore } from './stores/policy-store.js';

const overBus = [
  Journal,
  JournalFollower,
  EventsStream,
  SessionReader,
  LiveChannel,
  BlobStore,
  ResponderChannel,
] as const;

/** Everything of JetStream that a service may inject, over one connection. Global: import it once in a service's root. */
@Module({})
export class MessagingModule {
  static forBus(bus: Bus): DynamicModule {
    const providers: Provider[] = [
      { provide: Bus, useValue: bus },
      ...overBus.map((type): Provider => ({ provide: type, useFactory: () => new type(bus) })),
      {
        provide: TurnWatch,
        useFactory: (reader: SessionReader) => new TurnWatch(bus, reader),
        inject: [SessionReader],
      },
      { provide: ClaimCheck, useFactory: (blobs: BlobStore) => new ClaimCheck(blobs), inject: [BlobStore] },
      { provide: PolicyStore, useFactory: () => PolicyStore.open(bus) },
      { provide: AgentStore, useFactory: () => AgentStore.open(bus) },
    ];
    return {
      module: MessagingModule,
      global: true,
      providers,
      exports: [Bus, ...overBus, TurnWatch, ClaimCheck, PolicyStore, AgentStore],
    };
  }
}

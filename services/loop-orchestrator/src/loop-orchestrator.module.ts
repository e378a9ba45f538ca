import { Module, type DynamicModule } from '@nestjs/common';
import { AgentResolver } from './agent/agent.resolver.js';
import { ContentKeeper } from './inbox/content.keeper.js';
import { CommandResolver } from './inbox/command.resolver.js';
import { InboxController } from './inbox/inbox.controller.js';
import { InboxGauge } from './inbox/inbox.gauge.js';
import { OutcomePublisher } from './inbox/outcome.publisher.js';
import { ORCHESTRATOR_OPTIONS, type OrchestratorOptions } from './options.js';
import { SeamRegistry } from './policy/seam.registry.js';
import { AskedContents } from './session/asked-contents.js';
import { CommandHandler } from './session/command.handler.js';
import { ParentReader } from './session/parent.reader.js';
import { SessionRepository } from './session/session.repository.js';
import { WorkSender } from './session/work.sender.js';

/** The only writer of the journal. */
@Module({})
export class LoopOrchestratorModule {
  static register(options: OrchestratorOptions): DynamicModule {
    return {
      module: LoopOrchestratorModule,
      controllers: [InboxController],
      providers: [
        { provide: ORCHESTRATOR_OPTIONS, useValue: options },
        AgentResolver,
        AskedContents,
        CommandHandler,
        CommandResolver,
        ContentKeeper,
        InboxGauge,
        OutcomePublisher,
        ParentReader,
        SeamRegistry,
        SessionRepository,
        WorkSender,
      ],
    };
  }
}

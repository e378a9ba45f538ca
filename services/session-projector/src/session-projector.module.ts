import { Module, type DynamicModule } from '@nestjs/common';
import { SESSION_PROJECTOR_OPTIONS, type SessionProjectorOptions } from './options.js';
import { ProjectorService } from './projector/projector.service.js';
import { UnfolderService } from './unfolder/unfolder.service.js';

/** Both projections of the journal: SQL and the public stream. Needs the global `MessagingModule`. */
@Module({})
export class SessionProjectorModule {
  static register(options: SessionProjectorOptions): DynamicModule {
    return {
      module: SessionProjectorModule,
      providers: [{ provide: SESSION_PROJECTOR_OPTIONS, useValue: options }, ProjectorService, UnfolderService],
      exports: [ProjectorService, UnfolderService],
    };
  }
}

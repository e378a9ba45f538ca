import { Module, type DynamicModule } from '@nestjs/common';
import { HarnessService } from './harness/harness.service.js';
import { HarnessController } from './harness/harness.controller.js';
import { ACP_BRIDGE_OPTIONS, type AcpBridgeOptions } from './options.js';

/** Drives external ACP agents. Needs the global MessagingModule beside it. */
@Module({})
export class AcpBridgeModule {
  static register(options: AcpBridgeOptions): DynamicModule {
    return {
      module: AcpBridgeModule,
      controllers: [HarnessController],
      providers: [{ provide: ACP_BRIDGE_OPTIONS, useValue: options }, HarnessService],
    };
  }
}

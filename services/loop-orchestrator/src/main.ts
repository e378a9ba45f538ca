import { overNats, startCommandService } from '@jetloop/messaging/nest';
import { runService } from '@jetloop/platform';
import { configShape } from './config.js';
import { LoopOrchestratorModule } from './loop-orchestrator.module.js';

const service = 'loop-orchestrator';

await runService(service, configShape, (config, { logger, metrics }) => {
  const cached = metrics.gauge('jetloop_cached_sessions', 'Sessions whose state is kept in memory.');
  return overNats({ url: config.NATS_URL, name: service, ackWaitMs: config.JETLOOP_ACK_WAIT_MS }, (bus) =>
    startCommandService({
      bus,
      service,
      module: LoopOrchestratorModule.register({
        workspaceRoots: config.JETLOOP_WORKSPACE_ROOTS,
        allowInlineAgents: config.JETLOOP_ALLOW_INLINE_AGENTS,
        maxCachedSessions: config.JETLOOP_MAX_CACHED_SESSIONS,
        onCached: (sessions) => {
          cached.set(sessions);
        },
      }),
      slots: config.JETLOOP_SLOTS,
      ackWaitMs: config.JETLOOP_ACK_WAIT_MS,
      graceMs: config.JETLOOP_GRACE_MS,
      observe: metrics.observe,
      logger,
    }),
  );
});

import { loadConfig } from '@jetloop/platform';
import { z } from 'zod';

/** The service's own limits. */
export const llmRouterConfig = {
  /** Model calls that this process makes at once; at so many nothing is pulled. */
  JETLOOP_MAX_STREAMS: z.coerce.number('expected a number').int().min(1).default(512),
  /** Model calls of one tenant at once in this process; absent: all of them. */
  JETLOOP_TENANT_LIMIT: z.coerce.number('expected a number').int().min(1).optional(),
} as const;

/** How much a router does at once. */
export interface LlmRouterLimits {
  /** Commands of one tenant; default: no limit but the slots of the service. */
  readonly tenantLimit?: number;
  /** Slots of the service. */
  readonly maxStreams?: number;
}

/** The limits that settings stand for. */
export function limitsOf(settings: z.output<z.ZodObject<typeof llmRouterConfig>>) {
  const { JETLOOP_MAX_STREAMS: maxStreams, JETLOOP_TENANT_LIMIT: tenantLimit } = settings;
  return { maxStreams, ...(tenantLimit === undefined ? {} : { tenantLimit }) };
}

/** The same from an environment, for a program that runs the service inside itself. @throws ConfigError */
export function readLlmRouterLimits(env: NodeJS.ProcessEnv): LlmRouterLimits {
  return limitsOf(loadConfig(z.object(llmRouterConfig), env));
}

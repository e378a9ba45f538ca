import { z } from 'zod';

/** A setting is missing or wrong. The message names each variable and what was expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/**
 * Reads and checks a service's environment in one place. Empty variables count as absent.
 * @throws ConfigError
 */
export function loadConfig<S extends z.ZodType>(schema: S, env: NodeJS.ProcessEnv = process.env): z.output<S> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(given);
  if (parsed.success) return parsed.data;
  const lines = parsed.error.issues.map((issue) => `  ${issue.path.join('.')}: ${issue.message}`);
  throw new ConfigError(`The environment is not complete:\n${lines.join('\n')}`);
}

/** Settings that every service has. */
export const commonConfig = {
  NATS_URL: z.string('expected the address of NATS, nats://[user:password@]host:port'),
  /** Commands handled at once. */
  JETLOOP_SLOTS: z.coerce.number('expected a number').int().min(1).default(64),
  /** Milliseconds after which an unacknowledged command is delivered again; the same for every service. */
  JETLOOP_ACK_WAIT_MS: z.coerce.number('expected milliseconds').int().min(100).default(30_000),
  /** Port of `/live`, `/ready` and `/metrics`; absent: none of them. */
  JETLOOP_HTTP_PORT: z.coerce.number('expected a port').int().min(0).max(65_535).optional(),
  JETLOOP_HTTP_HOST: z.string().default('127.0.0.1'),
  /** Milliseconds that work may take to end after SIGTERM. */
  JETLOOP_GRACE_MS: z.coerce.number('expected milliseconds').int().min(0).default(25_000),
} as const;

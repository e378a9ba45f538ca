import type { OutputOptions } from '@jetloop/client';
import type { PolicySet } from '@jetloop/hook-policy';
import type { Catalogue } from '@jetloop/llm-router';
import type { NamedAgent } from '../agent/named-agent.js';
import type { ServiceSettings } from '../input/load-service-settings.js';

/** What `jetloop run` was asked for, with everything checked that can be checked before a server starts. */
export interface RunPlan {
  readonly prompt: string;
  readonly tenant: string;
  /** Undefined: a new one. */
  readonly session: string | undefined;
  /** Undefined: none was named. */
  readonly agent: NamedAgent | undefined;
  /** What the answer shall be; undefined: what the model says. */
  readonly output: OutputOptions | undefined;
  readonly where: RunningServices | EmbeddedServices;
}

/** Services that run elsewhere. */
export interface RunningServices {
  readonly kind: 'running';
  readonly natsUrl: string;
  /** As the services see it; undefined: the session's own folder. */
  readonly workspace: string | undefined;
}

/** All services in this process. */
export interface EmbeddedServices {
  readonly kind: 'embedded';
  /** The only folder that agents may work in. */
  readonly root: string;
  readonly workspace: string;
  readonly catalogue: Catalogue;
  readonly policySets: readonly PolicySet[];
  readonly settings: ServiceSettings;
  readonly dataDir: string;
}

import type { Adapter } from './adapter/adapter.js';
import type { AttemptObserver } from './routing/attempt-observer.js';
import type { Catalogue, Target } from './catalogue/catalogue.js';

/** Settings of the router. */
export interface LlmRouterOptions {
  readonly catalogue: Catalogue;
  readonly adapters: Readonly<Record<Target['dialect'], Adapter>>;
  /** Commands of one tenant at once; what is over it comes back later. */
  readonly tenantLimit: number;
  readonly observe: AttemptObserver;
}

export const LLM_ROUTER_OPTIONS = Symbol('LLM_ROUTER_OPTIONS');

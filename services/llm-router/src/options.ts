import type { Adapter } from './adapter/adapter.js';
import type { Catalogue, Target } from './catalogue/catalogue.js';

/** Settings of the router. */
export interface LlmRouterOptions {
  readonly catalogue: Catalogue;
  readonly adapters: Readonly<Record<Target['dialect'], Adapter>>;
}

export const LLM_ROUTER_OPTIONS = Symbol('LLM_ROUTER_OPTIONS');

import type { Target } from '../catalogue/catalogue.js';
import type { Adapter } from './adapter.js';
import { ScriptedAdapter } from './scripted/scripted.adapter.js';

/** The adapter of every dialect. Keys are read from `env` when a call is made. */
export function defaultAdapters(_env: NodeJS.ProcessEnv): Readonly<Record<Target['dialect'], Adapter>> {
  const scripted = new ScriptedAdapter();
  return { scripted, chat: scripted, responses: scripted };
}

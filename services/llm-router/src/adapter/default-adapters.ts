import type { Target } from '../catalogue/catalogue.js';
import type { Adapter } from './adapter.js';
import { ChatAdapter } from './chat/chat.adapter.js';
import { ScriptedAdapter } from './scripted/scripted.adapter.js';

/** The adapter of every dialect. Keys are read from `env` when a call is made. */
export function defaultAdapters(env: NodeJS.ProcessEnv): Readonly<Record<Target['dialect'], Adapter>> {
  return { chat: new ChatAdapter({ env }), scripted: new ScriptedAdapter() };
}

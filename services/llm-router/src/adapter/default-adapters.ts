import type { Target } from '../catalogue/catalogue.js';
import type { Adapter } from './adapter.js';
import { anthropicDialect } from './anthropic/anthropic.dialect.js';
import { ChatAdapter } from './chat/chat.adapter.js';
import { googleDialect } from './google/google.dialect.js';
import { ScriptedAdapter } from './scripted/scripted.adapter.js';
import { SdkAdapter } from './sdk/sdk.adapter.js';

/** The adapter of every dialect. Keys are read from `env` when a call is made. */
export function defaultAdapters(env: NodeJS.ProcessEnv): Readonly<Record<Target['dialect'], Adapter>> {
  return {
    chat: new ChatAdapter({ env }),
    anthropic: new SdkAdapter(anthropicDialect, { env }),
    google: new SdkAdapter(googleDialect, { env }),
    scripted: new ScriptedAdapter(),
  };
}

import { randomUUID } from 'node:crypto';
import type { Seam } from '@jetloop/contracts';
import type { ResponderChannel } from '@jetloop/messaging';
import { commandTransport } from './external/command/command-transport.js';
import { compileExternal, type ExternalOptions } from './external/compile-external.js';
import { responderTransport } from './external/responder/responder-transport.js';
import { addressGuard, type Resolve } from '@jetloop/platform';
import { webhookTransport } from './external/webhook/webhook-transport.js';
import { compilePlugin } from './plugin/compile-plugin.js';
import type { PolicyPlugin } from './plugin/define-policy.js';
import type { Policy } from './policy/policy.js';
import type { CommandForm, PluginForm, WebhookForm } from './rules/policy-forms.schema.js';

type Evaluate = Policy['evaluate'];

/** Makes an evaluation of each form that is no rule. */
export interface PolicyForms {
  plugin(form: PluginForm, seams: readonly Seam[]): Evaluate;
  command(form: CommandForm, options: ExternalOptions): Evaluate;
  webhook(form: WebhookForm, options: ExternalOptions): Evaluate;
  responder(name: string, options: ExternalOptions): Evaluate;
}

/** What the forms need of the world. */
export interface FormsWorld {
  readonly plugins: readonly PolicyPlugin[];
  /** Private addresses and ranges that webhooks may be at. */
  readonly webhookAddresses: readonly string[];
  readonly responders: Pick<ResponderChannel, 'request'>;
  readonly env: NodeJS.ProcessEnv;
  readonly resolve: Resolve;
}

/** The real forms. @throws RangeError when an address is none */
export function policyForms({ plugins, webhookAddresses, responders, env, resolve }: FormsWorld): PolicyForms {
  const byName = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const guard = addressGuard(webhookAddresses);
  const world = { env, guard, resolve, now: () => new Date(), randomId: randomUUID };
  return {
    plugin: (form, seams) => compilePlugin(byName, form, seams),
    command: (form, options) => compileExternal(commandTransport(form, env), options),
    webhook: (form, options) => compileExternal(webhookTransport(form, world), options),
    responder: (name, options) => compileExternal(responderTransport(name, responders), options),
  };
}

import type { DerivedMessage, Json, Seam, SeamSubject } from '@jetloop/contracts';
import { z } from 'zod';
import type { PolicyDecisionOf } from '../policy/policy-decision.js';
import type { SeamContext } from '../policy/policy.js';

/** By the registry, so that a module with another copy of this package still defines policies. */
const BRAND = Symbol.for('jetloop.policy');
const NAME = /^[A-Za-z0-9_-]{1,64}$/;

interface Conversation {
  /** The conversation, as the model is about to see it. Read from the log on the first call. */
  readonly messages: () => Promise<readonly DerivedMessage[]>;
}
type Inputs = { [S in Seam]: Extract<SeamSubject, { seam: S }> & (S extends 'pre-step' ? Conversation : unknown) };

/** What a plugin is shown at a seam. A copy: to change something, return it. */
export type SeamInput<S extends Seam> = Inputs[S];

type Asking = Omit<SeamContext, 'messages'>;

/** Where a plugin is asked. `signal` aborts at the policy's time limit and at shutdown; `commandId` is the same when a question is asked again. */
export interface PluginContext<O> extends Asking {
  /** What the policy set gives this use of the plugin. */
  readonly options: O;
}

/** Answers a seam. Nothing: no objection. Whatever it throws is a failure of the policy. */
export type SeamHandler<S extends Seam, O> = (
  input: SeamInput<S>,
  context: PluginContext<O>,
) => PolicyDecisionOf<S> | undefined | Promise<PolicyDecisionOf<S> | undefined>;

export interface PolicyDefinition<O> {
  /** 1 to 64 characters of A-Z, a-z, 0-9, `_` and `-`; a policy set uses it as `plugin: <name>`. */
  readonly name: string;
  /** Checks `options` of the policy set. Default: there are none. */
  readonly options?: z.ZodType<O>;
  readonly seams: { readonly [S in Seam]?: SeamHandler<S, O> };
}

/** A policy in TypeScript, as `definePolicy` makes it. */
export interface PolicyPlugin {
  readonly [BRAND]: true;
  readonly name: string;
  readonly seams: readonly Seam[];
  /** @throws z.ZodError when the options do not fit */
  bind(options: Json | undefined): (input: SeamInput<Seam>, context: Asking) => Promise<unknown>;
}

/**
 * Defines a policy that runs inside hook-policy.
 *
 * @example
 * export default definePolicy({
 *   name: 'no-weekend',
 *   seams: {
 *     'pre-tool': ({ name }) =>
 *       name === 'deploy' && [0, 6].includes(new Date().getDay())
 *         ? { decision: 'deny', reason: 'Nothing is deployed on a weekend.' }
 *         : undefined,
 *   },
 * });
 * @throws TypeError when the name is no name or there is no seam
 */
export function definePolicy<O = undefined>(definition: PolicyDefinition<O>): PolicyPlugin {
  const { name, options: schema, seams: handlers } = definition;
  if (!NAME.test(name)) {
    throw new TypeError(`definePolicy: the name ${JSON.stringify(name)}: expected 1 to 64 of A-Z, a-z, 0-9, "_", "-"`);
  }
  const seams = Object.keys(handlers) as Seam[];
  if (seams.length === 0) throw new TypeError(`definePolicy: ${name} has no seam: expected at least one`);
  const optionsSchema: z.ZodType = schema ?? z.undefined('expected no options');
  return {
    [BRAND]: true,
    name,
    seams,
    bind: (given) => {
      const options = optionsSchema.parse(given) as O;
      return async (input, context) => {
        const handler = handlers[input.seam] as SeamHandler<Seam, O> | undefined;
        return await handler?.(input, { ...context, options });
      };
    },
  };
}

/** Whether a module's export is a policy. */
export function isPolicyPlugin(value: unknown): value is PolicyPlugin {
  return typeof value === 'object' && value !== null && BRAND in value;
}

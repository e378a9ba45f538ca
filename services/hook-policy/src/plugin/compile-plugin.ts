import type { Json, Seam, SeamSubject } from '@jetloop/contracts';
import { z } from 'zod';
import { neutralDecisions, type PolicyDecision } from '../policy/policy-decision.js';
import { PolicyError } from '../policy/policy-error.js';
import type { EvaluationContext, Policy } from '../policy/policy.js';
import type { PolicyPlugin, SeamInput } from './define-policy.js';

/** Plugins by name. */
export type Plugins = ReadonlyMap<string, PolicyPlugin>;

/** The evaluation of one use of a plugin. What cannot be used fails at every evaluation: a set outlives the modules of a process. */
export function compilePlugin(
  plugins: Plugins,
  use: { name: string; options?: Json | undefined },
  seams: readonly Seam[],
): Policy['evaluate'] {
  const plugin = plugins.get(use.name);
  if (!plugin) {
    const known = [...plugins.keys()].join(', ') || 'none';
    return failing('unknown_plugin', `expected a plugin of JETLOOP_POLICY_MODULES (${known}), got "${use.name}"`);
  }
  const deaf = seams.filter((seam) => !plugin.seams.includes(seam));
  if (deaf.length > 0) {
    const knows = plugin.seams.join(', ');
    return failing('unknown_seam', `the plugin ${use.name} knows the seams ${knows}, not ${deaf.join(', ')}`);
  }
  try {
    const handle = plugin.bind(use.options);
    return async (subject, context) => {
      const answer = await handle(inputOf(subject, context), contextOf(context));
      // What it is not decides run-policy: an unknown answer is a failure.
      return (answer === undefined ? neutralDecisions[subject.seam] : answer) as PolicyDecision;
    };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    return failing('invalid_options', `options of the plugin ${use.name}: ${z.prettifyError(error)}`);
  }
}

const failing =
  (code: string, message: string): Policy['evaluate'] =>
  () =>
    Promise.reject(new PolicyError(code, message));

function inputOf(subject: SeamSubject, { messages }: EvaluationContext): SeamInput<Seam> {
  const copy = structuredClone(subject);
  return copy.seam === 'pre-step' ? { ...copy, messages } : copy;
}

function contextOf({ tenant, session, turn, step, commandId, signal, readBlob }: EvaluationContext) {
  return { tenant, session, turn, step, commandId, signal, readBlob };
}

import { policySetApplies, type BlobRef, type HookReply } from '@jetloop/contracts';
import { deriveMessages } from '@jetloop/session';
import { evaluate } from '../evaluate/evaluate.js';
import { compileMatcher } from '../external/matcher.js';
import { compilePlugin } from '../plugin/compile-plugin.js';
import type { PolicyPlugin } from '../plugin/define-policy.js';
import { policiesOf } from '../policies-of.js';
import type { PolicyForms } from '../policy-forms.js';
import { neutralDecisions } from '../policy/policy-decision.js';
import type { Policy } from '../policy/policy.js';
import type { PolicySet } from '../rules/policy-set.schema.js';
import { questionsOfLog, type LogEntry, type Question } from './questions-of-log.js';

/** What a set would have decided at one seam of a recorded session. */
export interface ReplayedSeam extends Question, Pick<HookReply, 'result' | 'observed'> {
  /** Policies outside this process, and plugins that are not loaded: they would have been asked, and were not. */
  readonly notAsked: readonly string[];
}

export interface ReplayOptions {
  readonly tenant: string;
  readonly session: string;
  readonly plugins: readonly PolicyPlugin[];
  readonly readBlob: (blob: BlobRef) => Promise<Uint8Array>;
}

/** Runs a set over a recorded session, without any effect: no command runs, nothing is sent, nothing is recorded. */
export async function replayPolicySet(
  set: PolicySet,
  entries: readonly LogEntry[],
  { tenant, session, plugins, readBlob }: ReplayOptions,
): Promise<ReplayedSeam[]> {
  const notAsked: string[] = [];
  const policies = policiesOf(set, dryForms(plugins, notAsked));
  const events = entries.map(({ event }) => event);
  const signal = new AbortController().signal;
  const replayed: ReplayedSeam[] = [];
  for (const question of questionsOfLog(entries, { tenant, session })) {
    const { subject, turn, step, sequence } = question;
    if (!policies.some((policy) => policy.seams.includes(subject.seam))) continue;
    if (!policySetApplies(set, { tenant, agent: subject.agent })) continue;
    const messages = () => Promise.resolve(deriveMessages(events.slice(0, sequence)));
    const context = { tenant, session, turn, step, commandId: `replay.${sequence}`, signal, readBlob, messages };
    const { result, observed } = await evaluate(policies, subject, context);
    replayed.push({ ...question, result, observed, notAsked: notAsked.splice(0) });
  }
  return replayed;
}

function dryForms(plugins: readonly PolicyPlugin[], notAsked: string[]): PolicyForms {
  const known = new Map(plugins.map((plugin) => [plugin.name, plugin]));
  const dry =
    (name: string, matcher?: string): Policy['evaluate'] =>
    (subject) => {
      if (compileMatcher(matcher)(subject)) notAsked.push(name);
      return Promise.resolve(neutralDecisions[subject.seam]);
    };
  return {
    plugin: (form, seams) => (known.has(form.name) ? compilePlugin(known, form, seams) : dry(`plugin ${form.name}`)),
    command: (_form, { policy, matcher }) => dry(policy, matcher),
    webhook: (_form, { policy, matcher }) => dry(policy, matcher),
    responder: (_name, { policy, matcher }) => dry(policy, matcher),
  };
}

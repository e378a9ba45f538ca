import type { EvaluationContext, SeamContext } from '../policy/policy.js';
import { policyForms, type FormsWorld, type PolicyForms } from '../policy-forms.js';

/** A seam that is asked in a session that has nothing. */
export const seamContext = (extra: Partial<SeamContext> = {}): SeamContext => ({
  tenant: 'acme',
  session: 's1',
  turn: 1,
  step: 1,
  commandId: 'acme.s1.1.1.hook.1',
  signal: new AbortController().signal,
  readBlob: () => Promise.reject(new Error('no blob here')),
  messages: () => Promise.reject(new Error('no messages here')),
  ...extra,
});

export const evaluationContext = (extra: Partial<EvaluationContext> = {}): EvaluationContext => ({
  ...seamContext(),
  beginRun: () => ({ stderr: '' }),
  ...extra,
});

/** The forms, in a world without anything. */
export const formsIn = (world: Partial<FormsWorld> = {}): PolicyForms =>
  policyForms({
    plugins: [],
    webhookAddresses: [],
    responders: { request: () => Promise.reject(new Error('no responder here')) },
    env: {},
    resolve: () => Promise.resolve([]),
    ...world,
  });

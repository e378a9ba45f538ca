import type { SeamSubject } from '@jetloop/contracts';
import { neutralDecisions, type PolicyDecision } from '../policy/policy-decision.js';
import { PolicyError } from '../policy/policy-error.js';
import type { Policy } from '../policy/policy.js';
import { contextOf, decisionOfAnswer, refusal } from './decision-of-answer.js';
import { hookAnswerSchema } from './hook-answer.schema.js';
import { hookEventOf, type HookEventOptions } from './hook-event.js';
import { compileMatcher } from './matcher.js';
import { readAnswer } from './read-answer.js';
import type { HookOutput, HookTransport } from './transport.js';

export interface ExternalOptions extends HookEventOptions {
  readonly matcher: string | undefined;
}

/** The evaluation of a policy outside this process: one interface, whatever the transport. */
export function compileExternal(transport: HookTransport, options: ExternalOptions): Policy['evaluate'] {
  const matches = compileMatcher(options.matcher);
  return async (subject, context) => {
    if (!matches(subject)) return neutralDecisions[subject.seam];
    const body = Buffer.from(JSON.stringify(await hookEventOf(subject, context, options)));
    const run = context.beginRun();
    const output = await transport(body, { signal: context.signal, workspace: subject.workspace }, run);
    // Checked by the caller, like every policy's answer.
    return decisionOf(subject, output) as PolicyDecision;
  };
}

function decisionOf({ seam }: SeamSubject, output: HookOutput): unknown {
  if (output.kind === 'refusal') return refusal(seam, output.reason);
  const answer = readAnswer(output.bytes);
  switch (answer.kind) {
    case 'nothing':
      return neutralDecisions[seam];
    case 'text':
      if (!output.plainText) throw new PolicyError('invalid_json', 'expected a JSON object or nothing, got other text');
      // Elsewhere the dialect shows plain text to the user, which is nobody here.
      return seam === 'session-start' || seam === 'prompt-submit'
        ? { ...neutralDecisions[seam], ...contextOf(answer.text) }
        : neutralDecisions[seam];
    case 'json': {
      const parsed = hookAnswerSchema(seam).safeParse(answer.value);
      if (parsed.success) return decisionOfAnswer(seam, parsed.data);
      const problems = parsed.error.issues.map(
        (issue) => `${issue.path.map(String).join('.') || 'answer'}: ${issue.message}`,
      );
      throw new PolicyError('invalid_decision', problems.join('; '));
    }
  }
}

import { isDeepStrictEqual } from 'node:util';
import type { ContentBlock, Json, SeamSubject } from '@jetloop/contracts';
import { neutralDecisions, type PolicyDecision } from '../policy/policy-decision.js';
import type { EvaluationContext } from '../policy/policy.js';
import { durationMs, type Decide } from './rule-parts.schema.js';
import { redactInput, redactJson, redactResult, type Redact } from './redact-content.js';
import { compilePattern } from './safe-pattern.js';
import { redactSecrets } from './secrets.js';

type Decision = (
  subject: SeamSubject,
  context: EvaluationContext,
  detail: string | undefined,
) => PolicyDecision | Promise<PolicyDecision>;

/** What a rule answers once it matches. */
export function compileDecision(decide: Decide): Decision {
  const { deny, block, ask, rewrite, redact, context: added } = decide;
  const context = added === undefined ? {} : { context: [{ type: 'text' as const, text: added }] };
  if (deny !== undefined) return (_s, _c, detail) => ({ decision: 'deny', reason: because(deny, detail) });
  if (block !== undefined) {
    return (subject, _c, detail) =>
      subject.seam === 'post-tool'
        ? { decision: 'block', feedback: because(block, detail) }
        : { decision: 'block', reason: because(block, detail) };
  }
  if (ask !== undefined) {
    const expires = ask['expires-in'];
    return (_s, _c, detail) => ({
      decision: 'ask',
      question: because(ask.question, detail),
      ...(expires !== undefined && { expiresInMs: durationMs(expires) }),
    });
  }
  if (decide.compact) return () => ({ decision: 'compact' });
  if (decide.stop) return () => ({ decision: 'stop' });
  if (decide.continue !== undefined) {
    const reason = decide.continue;
    return () => ({ decision: 'continue', reason });
  }
  if (rewrite) {
    return (subject) => ({
      decision: 'allow',
      ...('arguments' in subject && { arguments: { ...subject.arguments, ...rewrite.arguments } }),
      ...context,
    });
  }
  if (redact) {
    const apply = compileRedaction(redact);
    return async (subject, evaluation) => ({ ...(await redactSubject(subject, apply, evaluation)), ...context });
  }
  return (subject) => ({ ...neutralDecisions[subject.seam], ...context });
}

const because = (text: string, detail: string | undefined): string =>
  detail === undefined ? text : `${text} (${detail})`;

function compileRedaction(redact: NonNullable<Decide['redact']>): Redact {
  const patterns = redact.patterns.map(compilePattern);
  return (text) =>
    patterns.reduce(
      (result, pattern) => pattern.replaceAll(result, redact.with),
      redact.secrets ? redactSecrets(text, redact.with) : text,
    );
}

async function redactSubject(
  subject: SeamSubject,
  redact: Redact,
  context: EvaluationContext,
): Promise<PolicyDecision> {
  switch (subject.seam) {
    case 'prompt-submit': {
      const content = await redactInput(subject.content, redact, context);
      return { decision: 'allow', ...(!isDeepStrictEqual(content, subject.content) && { content }) };
    }
    case 'pre-tool': {
      const args = Object.fromEntries(
        Object.entries(subject.arguments).map(([key, value]): [string, Json] => [key, redactJson(value, redact)]),
      );
      return { decision: 'allow', ...(!isDeepStrictEqual(args, subject.arguments) && { arguments: args }) };
    }
    case 'post-tool': {
      const { output } = subject.result;
      const content: ContentBlock[] = await redactResult(subject.result.content, redact, context);
      // Content that is replaced takes the place of `output` too, so a secret that stands only there replaces it as well.
      const changed =
        !isDeepStrictEqual(content, subject.result.content) ||
        (output !== undefined && !isDeepStrictEqual(redactJson(output, redact), output));
      return { decision: 'accept', ...(changed && { content }) };
    }
    default:
      return neutralDecisions[subject.seam];
  }
}

import type { HookReply, InputBlock, PolicyContext, SeamDecision, SeamSubject } from '@jetloop/contracts';
import type { PolicyDecision } from '../policy/policy-decision.js';

interface Voice {
  policy: string;
  reason?: string | undefined;
}

/** Adds up the decisions of one seam, weakest first (spec 3.2); `subject` is what the next policy sees. */
export class Merge {
  private rewrote: string[] = [];
  private context: PolicyContext[] = [];
  private asks: (Voice & { expiresInMs?: number | undefined })[] = [];
  private continues: Voice[] = [];
  private compacts: string[] = [];

  constructor(public subject: SeamSubject) {}

  /** Takes the next decision. Returns the final one when it ends the evaluation. */
  add(policy: string, decision: PolicyDecision): SeamDecision | undefined {
    if ('context' in decision) this.addContext(policy, decision.context);
    switch (decision.decision) {
      case 'none':
        return undefined;
      case 'allow':
      case 'accept':
        this.rewrite(policy, decision);
        return undefined;
      case 'deny':
        return { decision: 'deny', policy, reason: decision.reason, ...this.added() };
      case 'block':
        if ('reason' in decision) return { decision: 'block', policy, reason: decision.reason };
        return { decision: 'block-result', policy, feedback: decision.feedback, context: this.context };
      case 'stop':
        return { decision: 'stop', policy };
      case 'ask':
        this.asks.push({ policy, reason: decision.question, expiresInMs: decision.expiresInMs });
        this.rewrite(policy, decision);
        return undefined;
      case 'continue':
        this.continues.push({ policy, reason: decision.reason });
        return undefined;
      case 'compact':
        this.compacts.push(policy);
        return undefined;
    }
  }

  /** The contexts so far, where an answer without any has no such field. */
  added(): { context?: PolicyContext[] } {
    return this.context.length > 0 ? { context: this.context } : {};
  }

  /** What earlier policies did for nothing, because the evaluation ended: recorded, not dropped in silence. */
  lost(why: string, final?: SeamDecision): HookReply['observed'] {
    const reason = `without effect: ${why}`;
    const rewrites = this.rewrote.map((policy) => ({ policy, decision: 'rewrite', reason }));
    const carried = final === undefined || 'context' in final;
    const contexts = carried ? [] : this.context.map(({ policy }) => ({ policy, decision: 'context', reason }));
    return [...rewrites, ...contexts];
  }

  /** The decision when no policy ended the evaluation. */
  result(): SeamDecision {
    const { subject, context, rewrote: policies } = this;
    switch (subject.seam) {
      case 'prompt-submit':
        return { decision: 'allow', ...(policies.length > 0 && { content: subject.content }), policies, context };
      case 'pre-tool':
        return this.asks.length > 0
          ? this.ask(policies.length > 0 ? subject.arguments : undefined)
          : { decision: 'allow', ...(policies.length > 0 && { arguments: subject.arguments }), policies, context };
      case 'post-tool':
        return {
          decision: 'accept',
          ...(policies.length > 0 && { content: subject.result.content }),
          policies,
          context,
        };
      case 'turn-continuation':
        return this.continues.length > 0
          ? { decision: 'continue', policy: names(this.continues), ...optional('reason', reasons(this.continues)) }
          : { decision: 'none', context };
      case 'pre-compact':
        return { decision: 'allow', policies, context };
      case 'pre-step':
        return this.compacts.length > 0
          ? { decision: 'compact', policy: this.compacts.join(', '), context }
          : { decision: 'none', context };
      case 'session-start':
        return { decision: 'none', context };
    }
  }

  private ask(rewritten: Extract<SeamSubject, { seam: 'pre-tool' }>['arguments'] | undefined): SeamDecision {
    const limits = this.asks.flatMap((ask) => ask.expiresInMs ?? []);
    return {
      decision: 'ask',
      policy: names(this.asks),
      ...optional('question', reasons(this.asks)),
      // The shortest wins: no policy's question is left open longer than it said.
      ...(limits.length > 0 && { expiresInMs: Math.min(...limits) }),
      ...(rewritten && { arguments: rewritten }),
      policies: this.rewrote,
      context: this.context,
    };
  }

  private addContext(policy: string, content: InputBlock[] | undefined): void {
    if (content && content.length > 0) this.context.push({ policy, content });
  }

  private rewrite(policy: string, decision: Extract<PolicyDecision, { decision: 'allow' | 'accept' | 'ask' }>): void {
    const { subject } = this;
    if (subject.seam === 'pre-tool' && 'arguments' in decision && decision.arguments) {
      this.subject = { ...subject, arguments: decision.arguments };
    } else if (subject.seam === 'prompt-submit' && decision.decision === 'allow') {
      if (!('content' in decision) || !decision.content) return;
      this.subject = { ...subject, content: decision.content };
    } else if (subject.seam === 'post-tool' && decision.decision === 'accept' && decision.content) {
      // The structured output says what the content said: whoever replaces one replaces both.
      const { output: _replaced, ...result } = subject.result;
      this.subject = { ...subject, result: { ...result, content: decision.content } };
    } else return;
    this.rewrote.push(policy);
  }
}

const names = (voices: readonly Voice[]): string => voices.map((voice) => voice.policy).join(', ');

const reasons = (voices: readonly Voice[]): string | undefined =>
  voices.flatMap((voice) => voice.reason ?? []).join('\n\n') || undefined;

const optional = <K extends string>(key: K, value: string | undefined): Partial<Record<K, string>> => {
  const found: Partial<Record<K, string>> = {};
  if (value !== undefined) found[key] = value;
  return found;
};

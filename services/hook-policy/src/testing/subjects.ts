import type { Seam, SeamSubject, TextBlock } from '@jetloop/contracts';

export const textBlock = (text: string): TextBlock => ({ type: 'text', text });

const session = { agent: 'coder', workspace: '/srv/ws' };
const subjects: { [S in Seam]: Extract<SeamSubject, { seam: S }> } = {
  'session-start': { seam: 'session-start', ...session, source: 'startup' },
  'prompt-submit': {
    seam: 'prompt-submit',
    ...session,
    messageId: 'm1',
    content: [textBlock('hello')],
    source: { kind: 'user' },
  },
  'pre-step': { seam: 'pre-step', ...session, estimatedTokens: 1000 },
  'pre-tool': {
    seam: 'pre-tool',
    ...session,
    n: 1,
    callId: 'c1',
    name: 'bash',
    arguments: { command: 'ls' },
    tool: { readonly: false, idempotent: false },
    callsBefore: 0,
  },
  'post-tool': {
    seam: 'post-tool',
    ...session,
    n: 1,
    callId: 'c1',
    name: 'bash',
    arguments: { command: 'ls' },
    result: { content: [textBlock('a b c')], isError: false, durationMs: 5 },
  },
  'turn-continuation': { seam: 'turn-continuation', ...session, default: 'stop', forced: 0 },
  'pre-compact': { seam: 'pre-compact', ...session, from: 0, to: 10, estimatedTokens: 1000 },
};

/** An example of what a policy is shown at a seam. */
export function subjectOf<S extends Seam>(
  seam: S,
  extra: Partial<Extract<SeamSubject, { seam: S }>> = {},
): Extract<SeamSubject, { seam: S }> {
  return { ...subjects[seam], ...extra };
}

import type { Seam } from '@jetloop/contracts';
import type { Report } from './check-seams.js';

export const forms = ['decide', 'plugin', 'command', 'webhook', 'responder'] as const;
export type Form = (typeof forms)[number];

const external: readonly Form[] = ['command', 'webhook', 'responder'];
const matched: readonly Seam[] = ['session-start', 'pre-tool', 'post-tool', 'pre-compact'];
const optionForms = {
  timeout: ['plugin', ...external],
  matcher: external,
  messages: external,
} as const satisfies Record<string, readonly Form[]>;

type Entry = Partial<Record<Form | keyof typeof optionForms, unknown>>;

/** A policy has one form, and only what this form knows. */
export function checkForm(seams: readonly Seam[], entry: Entry, report: Report): void {
  const given = forms.filter((form) => entry[form] !== undefined);
  const [form] = given;
  if (form === undefined || given.length > 1) {
    report([], `expected one of ${forms.join(', ')}, got ${given.join(' and ') || 'none'}`);
    return;
  }
  for (const [option, known] of Object.entries<readonly Form[]>(optionForms)) {
    if (option in entry && !known.includes(form)) {
      report([option], `expected a policy with ${known.join(', ')}: ${form} has no "${option}"`);
    }
  }
  const { matcher } = entry;
  const deaf = seams.filter((seam) => !matched.includes(seam));
  if (typeof matcher === 'string' && matcher !== '' && matcher !== '*' && deaf.length > 0) {
    report(['matcher'], `expected the seam ${matched.join(', ')}: ${deaf.join(', ')} has nothing to match`);
  }
  if ('messages' in entry && !seams.includes('pre-step')) report(['messages'], 'expected the seam pre-step');
}

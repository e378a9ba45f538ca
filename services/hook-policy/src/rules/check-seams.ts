import { type Seam } from '@jetloop/contracts';
import type { Decide, When } from './rule-parts.schema.js';

const everySeam = 'session-start prompt-submit pre-step pre-tool post-tool turn-continuation pre-compact';
const known = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** The seams on which a condition has something to look at. */
const conditionSeams: Readonly<Record<keyof When, ReadonlySet<string>>> = {
  tool: known('pre-tool post-tool'),
  readonly: known('pre-tool'),
  argument: known('pre-tool post-tool'),
  command: known('pre-tool post-tool'),
  'calls-before': known('pre-tool'),
  prompt: known('prompt-submit'),
  result: known('post-tool'),
  'estimated-tokens': known('pre-step pre-compact'),
  forced: known('turn-continuation'),
  default: known('turn-continuation'),
};

/** The seams that know a decision. */
const decisionSeams: Readonly<Record<keyof Decide, ReadonlySet<string>>> = {
  deny: known('pre-tool'),
  block: known('prompt-submit post-tool pre-compact'),
  ask: known('pre-tool'),
  rewrite: known('pre-tool'),
  redact: known('prompt-submit pre-tool post-tool'),
  context: known('session-start prompt-submit pre-step pre-tool post-tool'),
  compact: known('pre-step'),
  continue: known('turn-continuation'),
  stop: known('turn-continuation'),
};

export type Report = (path: string[], message: string) => void;

/** A condition on a seam that has nothing of the kind would never match: an error of the set, reported when it is read. */
export function checkConditions(seams: readonly Seam[], when: When, report: Report): void {
  checkKeys('when', when, conditionSeams, seams, report);
}

/** A decision that the seam does not know would fail at every evaluation: an error of the set, too. */
export function checkDecision(seams: readonly Seam[], decide: Decide, report: Report): void {
  checkKeys('decide', decide, decisionSeams, seams, report);
  const decisions = Object.keys(decide).filter((key) => key !== 'context');
  if (decisions.length > 1) report(['decide'], `expected one decision, got ${decisions.join(' and ')}`);
  if (decisions.length === 0 && decide.context === undefined) {
    report(['decide'], `expected one of ${Object.keys(decisionSeams).join(', ')}`);
  }
  const alone = decisions.find((key) => key !== 'rewrite' && key !== 'redact');
  if (alone !== undefined && decide.context !== undefined) {
    report(['decide', 'context'], `expected no context beside ${alone}: it would not be heard`);
  }
}

function checkKeys<K extends string>(
  part: string,
  value: Partial<Record<K, unknown>>,
  table: Readonly<Record<K, ReadonlySet<string>>>,
  seams: readonly Seam[],
  report: Report,
): void {
  for (const [key, at] of Object.entries<ReadonlySet<string>>(table)) {
    if (!(key in value)) continue;
    const wrong = seams.filter((seam) => !at.has(seam));
    if (wrong.length === 0) continue;
    const where = [...at].filter((seam) => everySeam.includes(seam)).join(', ');
    report([part, key], `expected the seam ${where}: ${wrong.join(', ')} has no "${key}"`);
  }
}

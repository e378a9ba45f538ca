import type { SeamSubject } from '@jetloop/contracts';
import { compilePattern } from '../rules/safe-pattern.js';

/** The dialect's matcher: nothing or `*` is all, a word or `a|b` is meant literally, all else is a regular expression. */
export function compileMatcher(matcher: string | undefined): (subject: SeamSubject) => boolean {
  if (matcher === undefined || matcher === '' || matcher === '*') return () => true;
  const words = /^[\w|-]+$/.test(matcher) ? matcher.split('|') : undefined;
  const pattern = words ? undefined : compilePattern(`/${matcher}/`);
  return (subject) => {
    const text = matchedText(subject);
    return words ? words.includes(text) : (pattern?.test(text) ?? false);
  };
}

function matchedText(subject: SeamSubject): string {
  switch (subject.seam) {
    case 'pre-tool':
    case 'post-tool':
      return subject.name;
    case 'session-start':
      return subject.source;
    case 'pre-compact':
      return 'auto';
    case 'prompt-submit':
    case 'pre-step':
    case 'turn-continuation':
      return '';
  }
}

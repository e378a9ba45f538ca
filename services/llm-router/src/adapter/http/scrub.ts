import { sharedRuns } from './shared-runs.js';

/** A text that is shorter than a run that is looked for is cut out where it stands whole; a shorter one still says nothing. */
const SHORT = { least: 4, most: 7 };
const LOOK_AT = 1_000;
const KEEP = 500;
const KEY_LIKE = /\b(?:sk|pk|xai|gsk|key)[-_][\w*.-]{4,}|\bAIza[\w-]{10,}|\bBearer\s+\S+/g;

/**
 * Makes a provider's message fit for errors and logs: whatever it shares with the request (runs of 8 characters or more,
 * and whole texts) and whatever looks like a key is cut out, and the rest is cut to 500 characters (spec 4.1).
 * @param secrets texts of the request and the key
 */
export function scrub(message: string, secrets: readonly string[]): string {
  const looked = message.slice(0, LOOK_AT);
  const cut = sharedRuns(looked, secrets.flatMap(written));
  for (const text of secrets.map((secret) => secret.trim())) {
    if (text.length < SHORT.least || text.length > SHORT.most) continue;
    for (let at = looked.indexOf(text); at >= 0; at = looked.indexOf(text, at + 1))
      cut.fill(true, at, at + text.length);
  }
  let kept = '';
  for (let at = 0; at < looked.length; at++) {
    if (!cut[at]) kept += looked.charAt(at);
    else if (!cut[at - 1]) kept += '[…]';
  }
  return kept.replaceAll(KEY_LIKE, '[key]').slice(0, KEEP);
}

/** A text as a provider may echo it: plain, or as it was sent, with escapes; many escape all that is not ASCII. */
function written(text: string): string[] {
  const escaped = JSON.stringify(text).slice(1, -1);
  const ascii = escaped.replaceAll(
    /[\u0080-\uffff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
  return [...new Set([text, escaped, ascii])];
}

const WINDOW = 8;
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
  // A provider may echo the body as it was sent, escapes included.
  const haystack = secrets.flatMap((text) => [text, JSON.stringify(text).slice(1, -1)]).join('\0');
  const cut = new Array<boolean>(looked.length).fill(false);
  for (let at = 0; at + WINDOW <= looked.length; at++) {
    if (haystack.includes(looked.slice(at, at + WINDOW))) cut.fill(true, at, at + WINDOW);
  }
  for (const text of secrets.map((secret) => secret.trim())) {
    if (text.length < 4 || text.length >= WINDOW) continue;
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

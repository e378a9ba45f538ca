/** A body or an event as JSON, else as it came; undefined: blank. */
export function jsonOrText(text: string): unknown {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text; // the caller says what that means: an error page, or a broken frame
  }
}

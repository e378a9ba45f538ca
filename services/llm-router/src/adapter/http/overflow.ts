const CODES = new Set([
  'context_length_exceeded',
  'context_window_exceeded',
  'exceed_context_size_error',
  'model_context_window_exceeded',
  'context_too_long',
  'prompt_too_long',
]);

/** What providers write when a prompt does not fit, where they have no code for it. */
const MESSAGES = [
  /maximum (?:context|prompt|model|input) (?:length|size)/i,
  /context (?:length|window|size|limit).{0,40}exceed|exceed.{0,80}context (?:length|window|size|limit)/i,
  /(?:prompt|input|request) is too long/i,
  /input token count.{0,40}exceeds the maximum/i,
  /(?:prompt|input) token count of .{0,40}exceeds/i,
  /longer than the maximum model length/i,
  /greater than the context length/i,
  /reduce the length of the (?:messages|prompt|input)/i,
  /range of input length should be/i,
  /exceeded model token limit/i,
  /prompt exceeds max(?:imum)? length/i,
  /`inputs` tokens \+ `max_new_tokens` must be/i,
  /too many (?:input )?tokens: /i,
  /prompt contains \d+ tokens/i,
];
const NEAR_FULL = 0.8;

/** What is known of a failed call's size: low estimate of its tokens, and the window if the catalogue gives one. */
export interface RequestSize {
  readonly tokens: number;
  readonly window: number | undefined;
}

/** Whether the prompt was too long: by code, then by message; without a body only near the full window (spec 4.5). */
export function isOverflow(codes: readonly string[], message: string | undefined, size: RequestSize): boolean {
  if (codes.some((code) => CODES.has(code))) return true;
  if (message !== undefined) return MESSAGES.some((pattern) => pattern.test(message));
  return size.window !== undefined && size.tokens > NEAR_FULL * size.window;
}

import { errorFacts } from './error-facts.js';

/** What providers write when they do not take the reasoning that came with earlier answers. */
const MESSAGES = [
  /signature.{0,40}thinking|thinking.{0,80}signature/i,
  /thought[_ ]?signature/i,
  /expected `?(?:redacted_)?thinking`?.{0,60}but found/i,
  /`?(?:redacted_)?thinking`? (?:or `?redacted_thinking`? )?blocks?.{0,120}(?:cannot be modified|must|invalid|expected|preserved)/i,
  /(?:invalid|corrupt)\w*.{0,20}(?:thought|reasoning|redacted_thinking)/i,
  /encrypted (?:content|reasoning).{0,80}(?:could not|verif|invalid|decrypt)/i,
];

/** Whether an error answer is about reasoning state: the same request without it may pass (spec 4.3, repair). */
export function refusesReasoningState(status: number, body: unknown): boolean {
  const message = status === 400 ? errorFacts(body)?.message : undefined;
  return message !== undefined && MESSAGES.some((pattern) => pattern.test(message));
}

/** Shapes of credentials that are known by their prefix. Quantifiers are bounded or over one class: linear in the text. */
const shapes: readonly RegExp[] = [
  /\bsk-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{30,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{30,}/g,
  /\bglpat-[A-Za-z0-9_-]{20,}/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bAIza[A-Za-z0-9_-]{35}/g,
  /\bxox[abposr]-[A-Za-z0-9-]{10,}/g,
  /\bnpm_[A-Za-z0-9]{36}/g,
  /\b[sr]k_live_[A-Za-z0-9]{16,}/g,
  /\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[A-Za-z0-9+/=\s:,.-]{0,20000}?-----END [A-Z ]{0,40}PRIVATE KEY-----/g,
];

/** Whether a text holds a credential of a known shape. */
export const holdsSecret = (text: string): boolean => shapes.some((shape) => text.search(shape) >= 0);

/** The text with every such credential replaced. */
export const redactSecrets = (text: string, by: string): string =>
  shapes.reduce((result, shape) => result.replace(shape, () => by), text);

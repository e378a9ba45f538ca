/** Servers that run already are not fresh, and containers are not what is compared. */
export function embeddedOnly(): Record<string, string | undefined> {
  return { ...process.env, NATS_URL: undefined, DATABASE_URL: undefined, JETLOOP_INFRA: undefined };
}

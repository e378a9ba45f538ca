/** The turn of an event that does not say it in its data; null outside a turn. */
export function turnNumber(correlationId: string | undefined): number | null {
  return correlationId !== undefined && /^\d{1,9}$/.test(correlationId) ? Number(correlationId) : null;
}

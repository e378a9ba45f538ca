/** What an event takes from its commit. */
export interface EventContext {
  readonly tenant: string;
  readonly session: string;
  readonly causation: string;
  readonly at: string;
}

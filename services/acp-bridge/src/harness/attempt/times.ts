/** Milliseconds that an attempt waits (spec 6.1 to 6.6). */
export interface HarnessTimes {
  /** For both answers of the handshake. */
  readonly handshakeMs: number;
  /** For the answer to a prompt that was cancelled. */
  readonly cancelMs: number;
  /** From the end of an attempt to SIGTERM, and to SIGKILL. */
  readonly terminateMs: number;
  readonly killMs: number;
  /** That events wait for others to go with them. */
  readonly batchMs: number;
}

export const defaultTimes: HarnessTimes = {
  handshakeMs: 30_000,
  cancelMs: 10_000,
  terminateMs: 3_000,
  killMs: 5_000,
  batchMs: 20,
};

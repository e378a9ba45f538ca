/** The oldest nats-server with all that Jetloop needs: atomic batches, message schedules. */
export const MINIMUM_NATS_VERSION = '2.12.0';

/** Reads the version out of what `nats-server --version` prints (`nats-server: v2.15.1`). */
export function parseNatsVersion(output: string): string | undefined {
  return /nats-server:\s+v?(\d+\.\d+\.\d+\S*)/.exec(output)?.[1];
}

/** Whether a version is 2.12 or newer. A preview of a release counts as that release. */
export function isSupportedNatsVersion(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 2 || (major === 2 && minor >= 12);
}

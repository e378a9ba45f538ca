/** The release that is fetched where there is no Debian archive. */
export const NATS_RELEASE = '2.15.1';

const systems: Readonly<Record<string, string>> = { linux: 'linux', darwin: 'darwin' };
const machines: Readonly<Record<string, string>> = { x64: 'amd64', arm64: 'arm64' };

/** The name, without extension, of a release archive and of the folder in it; nothing where none is published for us. */
export function releaseArchiveName(platform: string, architecture: string): string | undefined {
  const system = systems[platform];
  const machine = machines[architecture];
  if (system === undefined || machine === undefined) return undefined;
  return `nats-server-v${NATS_RELEASE}-${system}-${machine}`;
}

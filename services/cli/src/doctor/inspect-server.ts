import { Bus, withoutPassword } from '@jetloop/messaging';
import { runAuditQuery } from '@jetloop/persistence';
import type { ServerInspection } from '@jetloop/testing';
import type { Finding } from './finding.js';

const CONNECT_MS = 3_000;

/** Where NATS comes from; a given server is asked for its version. */
export function inspectNats(inspection: ServerInspection, url: string | undefined): Promise<Finding> {
  return inspect('nats-server', 'NATS_URL', inspection, url, async (address) => {
    const bus = await Bus.connect({ url: address, name: 'jetloop-doctor', timeoutMs: CONNECT_MS });
    const version = bus.serverVersion;
    await bus.close();
    return version;
  });
}

/** Where PostgreSQL comes from; a given server is asked for its version. */
export function inspectPostgres(inspection: ServerInspection, url: string | undefined): Promise<Finding> {
  return inspect('PostgreSQL', 'DATABASE_URL', inspection, url, async (address) => {
    const { rows } = await runAuditQuery(address, "select current_setting('server_version')", {
      timeoutMs: CONNECT_MS,
    });
    return String(rows[0]?.[0]);
  });
}

async function inspect(
  name: string,
  variable: string,
  { source, path, version, problem, remedy }: ServerInspection,
  url: string | undefined,
  ask: (url: string) => Promise<string>,
): Promise<Finding> {
  switch (source) {
    case 'given': {
      const address = withoutPassword(url ?? '');
      try {
        return { name, state: 'ok', detail: `${await ask(url ?? '')} at ${address} (${variable})` };
      } catch (error) {
        const why = error instanceof Error ? error.message : String(error);
        return {
          name,
          state: 'missing',
          detail: `${variable} ${address}: ${why}`,
          remedy: `start it, correct ${variable}, or unset it to run on an embedded server`,
        };
      }
    }
    case 'containers':
      return { name, state: 'ok', detail: 'from a container at the start (JETLOOP_INFRA=containers)' };
    case 'embedded':
      return {
        name,
        state: 'ok',
        detail: `${version ?? 'unknown version'}, embedded${path === undefined ? '' : ` (${path})`}`,
      };
    case 'fetch':
      return { name, state: 'ok', detail: `fetched at the first start from ${path ?? 'its release page'}`, remedy };
    case 'none':
      return { name, state: 'missing', detail: problem ?? 'not there', remedy };
  }
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Registry } from 'prom-client';

/** What a service needs to do its work, by name, and whether it has it now. */
export type Readiness = Readonly<Record<string, boolean>>;

export interface HealthServerOptions {
  /** 0: a free one. */
  readonly port: number;
  /** Address to listen on. */
  readonly host: string;
  readonly readiness: () => Readiness;
  readonly metrics: Registry;
}

/**
 * Serves `/live` (the event loop answers, nothing else), `/ready` (200 or 503, with what is missing) and `/metrics`
 * (Prometheus text).
 */
export async function startHealthServer({
  port,
  host,
  readiness,
  metrics,
}: HealthServerOptions): Promise<{ port: number; stop(): Promise<void> }> {
  const server = createServer((request, response) => {
    const json = (status: number, body: unknown) => {
      response.writeHead(status, { 'content-type': 'application/json' }).end(`${JSON.stringify(body)}\n`);
    };
    switch (request.url?.split('?')[0]) {
      case '/live':
        json(200, { live: true });
        return;
      case '/ready': {
        const parts = readiness();
        const ready = Object.values(parts).every(Boolean);
        json(ready ? 200 : 503, { ready, ...parts });
        return;
      }
      case '/metrics':
        metrics.metrics().then(
          (text) => response.writeHead(200, { 'content-type': metrics.contentType }).end(text),
          (error: unknown) => {
            json(500, { error: String(error) });
          },
        );
        return;
      default:
        json(404, { error: 'expected /live, /ready or /metrics' });
    }
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const { port: bound } = server.address() as AddressInfo;
  const stop = () =>
    new Promise<void>((resolve) => {
      server.close(() => {
        resolve();
      });
      server.closeAllConnections();
    });
  return { port: bound, stop };
}

import { fork } from 'node:child_process';
import { join } from 'node:path';
import { clientMessageSchema, type ClientMessage, type ClientReport, type ClientTask } from './client-report.ts';
import { end } from './service-process.ts';

/** Milliseconds that warming up, and that the measured work, may take. */
const LIMIT_MS = 180_000;

export interface ClientProcess {
  readonly pid: number;
  /** Does the measured work. */
  go(): Promise<ClientReport>;
  stop(): Promise<void>;
}

/** Starts the client in its own process; it has warmed up, and the services with it, when this resolves. */
export async function startClient(task: ClientTask, signal: AbortSignal): Promise<ClientProcess> {
  const child = fork(join(import.meta.dirname, 'client.ts'), [JSON.stringify(task)], { execArgv: [], signal });
  const next = () =>
    new Promise<ClientMessage>((resolve, reject) => {
      const timer = setTimeout(() => {
        reject(new Error(`The client did not come to an end in ${LIMIT_MS} ms`));
      }, LIMIT_MS);
      const done = () => {
        clearTimeout(timer);
        child.removeAllListeners();
        child.on('error', () => undefined); // the abort of a client that nobody waits for
      };
      child.once('message', (message) => {
        done();
        resolve(clientMessageSchema.parse(message));
      });
      child.once('error', (error) => {
        done();
        reject(signal.aborted ? new Error('interrupted') : error);
      });
      child.once('exit', (code) => {
        done();
        reject(new Error(`The client ended with code ${String(code)}`));
      });
    });
  try {
    await next();
  } catch (error) {
    await end(child);
    throw error;
  }
  return {
    pid: child.pid ?? 0,
    go: async () => {
      const report = next();
      child.send('go');
      const message = await report;
      if (message.kind !== 'report') throw new Error(`Expected the client's report, got ${message.kind}`);
      return message;
    },
    stop: async () => {
      await end(child);
    },
  };
}

import type { JetloopClient, SessionSummary } from '@jetloop/client';
import { DamagedSessionError } from '@jetloop/messaging';
import { BrokenLogError } from '@jetloop/session';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { plural } from '../render/format.js';
import { styleOf } from '../render/style.js';
import { renderTable } from '../render/table.js';
import { SessionActivity } from '../tail/session-activity.js';
import { withClient, type RemoteOptions } from './with-client.js';

export interface SessionsOptions extends RemoteOptions {
  /** Sessions that are shown at most, the last active ones. */
  readonly limit: number;
}

/** `jetloop sessions`: what sessions there are, the last active one first, and what each waits for. */
export async function sessionsCommand(options: SessionsOptions, io: CommandIo): Promise<ExitCode> {
  const { tenant, limit } = options;
  const { shown, more } = await withClient(io, options, async (client) => {
    const all = await client.sessions();
    const waiting = async (summary: SessionSummary) => ({
      ...summary,
      waitsFor: await waitsFor(client, tenant, summary),
    });
    return { shown: await Promise.all(all.slice(0, limit).map(waiting)), more: Math.max(0, all.length - limit) };
  });
  if (options.json) {
    for (const { last, ...summary } of shown)
      writeJson(io, { ...summary, tenant, events: last && last.sequence + 1, last });
    return EXIT.completed;
  }
  renderTable(
    {
      columns: ['session', 'events', 'last event', 'at', 'waits for'],
      rows: shown.map(({ session, last, waitsFor: awaited }) => [
        ...[session, last && last.sequence + 1, last?.type ?? 'damaged', last?.at],
        awaited.join(', '),
      ]),
    },
    io.out,
  );
  if (more > 0) io.err.write(`${styleOf(io.err).dim(`${plural(more, 'more session')}: see --limit`)}\n`);
  return EXIT.completed;
}

/** Behind the end of a turn nothing waits: the log of such a session is not read. */
async function waitsFor(
  client: JetloopClient,
  tenant: string,
  { session, last }: SessionSummary,
): Promise<readonly string[]> {
  if (!last || last.type === 'turn.end' || last.type === 'session.closed') return [];
  const activity = new SessionActivity(tenant, session);
  try {
    for await (const entry of client.events(session, { follow: false })) activity.see(entry);
  } catch (error) {
    // One damaged session hides no other.
    if (error instanceof BrokenLogError || error instanceof DamagedSessionError) return ['its log to be mended'];
    throw error;
  }
  return activity.waitsFor;
}

import type { JetloopClient, SessionEntry, SessionSummary } from '@jetloop/client';
import { approvalsOf } from '../approvals/approvals-of.js';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { plural } from '../render/format.js';
import { styleOf } from '../render/style.js';
import { renderTable } from '../render/table.js';
import { withClient, type RemoteOptions } from './with-client.js';

export interface SessionsOptions extends RemoteOptions {
  /** Sessions that are shown at most, the last active ones. */
  readonly limit: number;
}

/** `jetloop sessions`: what sessions there are, the last active one first, and which of them wait for a person. */
export async function sessionsCommand(options: SessionsOptions, io: CommandIo): Promise<ExitCode> {
  const { shown, more } = await withClient(io, options, async (client) => {
    const all = await client.sessions();
    const first = all.slice(0, options.limit);
    const approvals = await Promise.all(first.map((summary) => openApprovals(client, summary)));
    const withApprovals = first.map((summary, index) => ({ ...summary, approvals: approvals[index] ?? [] }));
    return { shown: withApprovals, more: all.length - first.length };
  });
  if (options.json) {
    for (const { session, commits, last, approvals } of shown)
      writeJson(io, { session, tenant: options.tenant, commits, events: last && last.sequence + 1, last, approvals });
    return EXIT.completed;
  }
  renderTable(
    {
      columns: ['session', 'events', 'last event', 'at', 'waits for'],
      rows: shown.map(({ session, last, approvals }) => [
        ...[session, last && last.sequence + 1, last?.type ?? 'damaged', last?.at],
        approvals.map((id) => `approval ${id}`).join(', '),
      ]),
    },
    io.out,
  );
  if (more > 0) io.err.write(`${styleOf(io.err).dim(`${plural(more, 'more session')}: see --limit`)}\n`);
  return EXIT.completed;
}

/** Behind the end of a turn nothing waits: the log of such a session is not read. */
async function openApprovals(client: JetloopClient, { session, last }: SessionSummary): Promise<string[]> {
  if (!last || last.type === 'turn.end' || last.type === 'session.closed') return [];
  const entries: SessionEntry[] = [];
  for await (const entry of client.events(session, { follow: false })) entries.push(entry);
  return approvalsOf(entries).flatMap(({ approvalId, decided }) => (decided ? [] : [approvalId]));
}

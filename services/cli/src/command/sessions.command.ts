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

/** `jetloop sessions`: what sessions there are, the last active one first. */
export async function sessionsCommand(options: SessionsOptions, io: CommandIo): Promise<ExitCode> {
  const all = await withClient(io, options, (client) => client.sessions());
  const shown = all.slice(0, options.limit);
  if (options.json) {
    for (const { session, commits, last } of shown)
      writeJson(io, { session, tenant: options.tenant, commits, events: last && last.sequence + 1, last });
    return EXIT.completed;
  }
  renderTable(
    {
      columns: ['session', 'events', 'last event', 'at'],
      rows: shown.map(({ session, last }) => [session, last && last.sequence + 1, last?.type ?? 'damaged', last?.at]),
    },
    io.out,
  );
  if (shown.length < all.length)
    io.err.write(`${styleOf(io.err).dim(`${plural(all.length - shown.length, 'more session')}: see --limit`)}\n`);
  return EXIT.completed;
}

import { runAuditQuery } from '@jetloop/persistence';
import { writeJson, type CommandIo } from '../command-io.js';
import { withProjection } from '../embedded/with-projection.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { renderTable } from '../render/table.js';
import { UsageError } from '../usage-error.js';

export interface SqlOptions {
  readonly json?: boolean | undefined;
  /** Rows that are read at most. */
  readonly maxRows: number;
}

/** `jetloop sql`: one read-only query of the audit tables. */
export async function sqlCommand(query: string, { json, maxRows }: SqlOptions, io: CommandIo): Promise<ExitCode> {
  if (query.trim() === '')
    throw new UsageError("The query is empty: expected SQL, as in jetloop sql 'select name, reason from tool_calls'.");
  const result = await withProjection(io, (databaseUrl) => runAuditQuery(databaseUrl, query, { maxRows }));
  if (json) writeJson(io, result);
  else renderTable(result, io.out);
  return EXIT.completed;
}

import type { SessionEntry } from '@jetloop/client';
import { approvalsOf } from '../approvals/approvals-of.js';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { styleOf } from '../render/style.js';
import { renderTable } from '../render/table.js';
import { withClient, type RemoteOptions } from './with-client.js';

export interface ApprovalsListOptions extends RemoteOptions {
  /** The decided ones too. */
  readonly all?: boolean | undefined;
}

export interface DecideOptions extends RemoteOptions {
  readonly note?: string | undefined;
}

/** `jetloop approvals list`: the tool calls of a session that wait for a decision. */
export async function approvalsListCommand(
  session: string,
  options: ApprovalsListOptions,
  io: CommandIo,
): Promise<ExitCode> {
  checkToken('session', session);
  const entries: SessionEntry[] = [];
  await withClient(io, options, async (client) => {
    for await (const entry of client.events(session, { follow: false })) entries.push(entry);
  });
  const shown = approvalsOf(entries).filter(({ decided }) => options.all === true || decided === undefined);
  if (options.json) for (const approval of shown) writeJson(io, approval);
  else
    renderTable(
      {
        columns: ['approval', 'tool', 'question', 'expires', 'decision'],
        rows: shown.map(({ approvalId, tool, question, expiresAt, decided }) => [
          ...[approvalId, tool, question, expiresAt],
          decided ? `${decided.outcome} by ${decided.by}` : 'open',
        ]),
      },
      io.out,
    );
  return EXIT.completed;
}

/** `jetloop approvals approve` and `deny`: decides on a tool call that waits. */
export async function approvalsDecideCommand(
  session: string,
  approvalId: string,
  outcome: 'approved' | 'rejected',
  options: DecideOptions,
  io: CommandIo,
): Promise<ExitCode> {
  checkToken('session', session);
  const { tenant, note } = options;
  const sequence = await withClient(io, options, (client) =>
    client.decideApproval(session, approvalId, outcome, note === undefined ? {} : { note }),
  );
  if (options.json) writeJson(io, { session, tenant, approvalId, outcome, sequence });
  else io.out.write(`${styleOf(io.out).name(outcome)}: event ${sequence ?? 0} of session ${session}\n`);
  return EXIT.completed;
}

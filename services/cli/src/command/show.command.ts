import { JetloopClient, type SessionEntry } from '@jetloop/client';
import { writeJson, type CommandIo } from '../command-io.js';
import { withJournal } from '../embedded/with-journal.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkNatsUrl } from '../input/check-nats-url.js';
import { checkToken } from '../input/check-token.js';
import { entryToJson } from '../render/entry-json.js';
import { renderTimeline } from '../render/timeline.js';

export interface ShowOptions {
  readonly tenant: string;
  readonly nats?: string | undefined;
  readonly json?: boolean | undefined;
}

/** `jetloop show`: the events of a session, one a line. */
export async function showCommand(session: string, options: ShowOptions, io: CommandIo): Promise<ExitCode> {
  const tenant = checkToken('--tenant', options.tenant);
  checkToken('session', session);
  const given = options.nats === undefined ? undefined : checkNatsUrl(options.nats);
  await withJournal(io, given, async (natsUrl) => {
    const client = await JetloopClient.connect({ natsUrl, tenant, actor: 'cli' });
    try {
      const entries: SessionEntry[] = [];
      for await (const entry of client.events(session, { follow: false })) entries.push(entry);
      if (options.json) for (const entry of entries) writeJson(io, entryToJson(entry));
      else renderTimeline(entries, io.out);
    } finally {
      await client.close();
    }
  });
  return EXIT.completed;
}

import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { entryToJson } from '../render/entry-json.js';
import { styleOf } from '../render/style.js';
import { arrivalLine } from '../render/timeline.js';
import { followSession } from '../tail/follow-session.js';
import { sameSession, withClient, type RemoteOptions } from './with-client.js';

export interface TailOptions extends RemoteOptions {
  /** Sequence of the first event that is shown. */
  readonly from: number;
  readonly untilIdle?: boolean | undefined;
}

/** `jetloop tail`: the events of a session as they come, until ^C, or until it is closed, or idle. */
export async function tailCommand(session: string, options: TailOptions, io: CommandIo): Promise<ExitCode> {
  checkToken('session', session);
  const { tenant, from, untilIdle = false, json } = options;
  const interrupted = new AbortController();
  const stop = io.onInterrupt(() => {
    interrupted.abort();
  });
  let next = from;
  try {
    const { lastEnd } = await withClient(io, options, (client) =>
      followSession(client, session, {
        tenant,
        from,
        untilIdle,
        signal: interrupted.signal,
        onEntry: (entry) => {
          next = entry.event.sequence + 1;
          if (json) writeJson(io, entryToJson(entry));
          else io.out.write(`${arrivalLine(entry, io.out)}\n`);
        },
      }),
    );
    if (interrupted.signal.aborted) {
      const again = `jetloop tail ${session} --from ${next}${sameSession(options)}`;
      if (!json) io.err.write(`${styleOf(io.err).dim(`go on: ${again}`)}\n`);
      return EXIT.completed;
    }
    const isOtherEnd = untilIdle && lastEnd !== undefined && lastEnd.kind !== 'completed';
    return isOtherEnd ? EXIT.otherEnd : EXIT.completed;
  } finally {
    stop();
  }
}

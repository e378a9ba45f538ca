import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { withClient, type RemoteOptions } from './with-client.js';

export interface ForkOptions extends RemoteOptions {
  /** Sequence of the last event that the new session knows; by default the last there is. */
  readonly at?: number | undefined;
  /** Id of the new session. */
  readonly as?: string | undefined;
}

/** `jetloop fork`: begins a new session with the conversation of another one. */
export async function forkCommand(session: string, options: ForkOptions, io: CommandIo): Promise<ExitCode> {
  checkToken('session', session);
  const { tenant, at, as } = options;
  const forked = await withClient(io, options, async (client) => {
    const sequence = at ?? (await client.lastSequence(session)) ?? 0;
    const id = as === undefined ? {} : { session: checkToken('--as', as) };
    return { from: sequence, ...(await client.fork({ session, sequence }, id)) };
  });
  if (options.json) writeJson(io, { session: forked.session, tenant, from: { session, sequence: forked.from } });
  else io.out.write(`session ${forked.session} goes on from event ${forked.from} of session ${session}\n`);
  return EXIT.completed;
}

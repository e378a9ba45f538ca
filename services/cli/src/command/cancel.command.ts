import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { withClient, type RemoteOptions } from './with-client.js';

export interface CancelOptions extends RemoteOptions {
  readonly reason?: string | undefined;
}

/** `jetloop cancel`: ends the open turn of a session and discards what is queued. */
export async function cancelCommand(session: string, options: CancelOptions, io: CommandIo): Promise<ExitCode> {
  checkToken('session', session);
  const { tenant, reason = 'cancelled by the user' } = options;
  const sequence = await withClient(io, options, (client) => client.cancel(session, { reason }));
  if (options.json) writeJson(io, { session, tenant, sequence });
  else if (sequence === null) io.out.write(`nothing to cancel: session ${session} is idle\n`);
  else io.out.write(`cancelled as of event ${sequence} of session ${session}\n`);
  return EXIT.completed;
}

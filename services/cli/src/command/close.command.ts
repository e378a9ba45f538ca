import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { withClient, type RemoteOptions } from './with-client.js';

export interface CloseOptions extends RemoteOptions {
  readonly reason?: string | undefined;
}

/** `jetloop close`: closes a session for good. */
export async function closeCommand(session: string, options: CloseOptions, io: CommandIo): Promise<ExitCode> {
  checkToken('session', session);
  const { tenant, reason = 'closed by the user' } = options;
  const sequence = await withClient(io, options, (client) => client.closeSession(session, { reason }));
  if (options.json) writeJson(io, { session, tenant, sequence });
  else io.out.write(`closed as of event ${sequence ?? 0} of session ${session}\n`);
  return EXIT.completed;
}

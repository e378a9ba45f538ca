import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { withClient, type RemoteOptions } from './with-client.js';

/** `jetloop resume`: says that a session is taken up again, so that policies of its start are asked. */
export async function resumeCommand(session: string, options: RemoteOptions, io: CommandIo): Promise<ExitCode> {
  checkToken('session', session);
  const { tenant } = options;
  const sequence = await withClient(io, options, (client) => client.resume(session));
  if (options.json) writeJson(io, { session, tenant, sequence });
  else io.out.write(`resumed as of event ${sequence ?? 0} of session ${session}\n`);
  return EXIT.completed;
}

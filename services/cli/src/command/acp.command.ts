import { serveAcpAgent } from '@jetloop/acp-bridge';
import { JetloopClient } from '@jetloop/client';
import { actorOf } from '../actor.js';
import { namedAgent } from '../agent/named-agent.js';
import type { CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { checkChain } from '../run/plan-run.js';
import { planWhere, type WhereOptions } from '../run/plan-where.js';
import { withServices } from '../run/with-services.js';
import { UsageError } from '../usage-error.js';

export interface AcpOptions extends Omit<WhereOptions, 'workspace'> {
  readonly agent: string;
  readonly tenant: string;
}

/** `jetloop acp`: sessions for an editor, over standard input and output, until the input ends. */
export async function acpCommand(options: AcpOptions, version: string, io: CommandIo): Promise<ExitCode> {
  const tenant = checkToken('--tenant', options.tenant);
  const agent = await namedAgent(options.agent);
  if (!agent) throw new UsageError('--agent is missing: name an agent that the services know, or a YAML file.');
  const where = await planWhere(options, io);
  if (where.kind === 'embedded' && 'spec' in agent) checkChain(agent.spec, where.catalogue, agent);
  // From here on standard output is the editor's.
  const pipes = io.takePipes();
  const interrupted = new AbortController();
  const stopListening = io.onInterrupt(() => {
    interrupted.abort();
  });
  try {
    await withServices(io, { where }, async (natsUrl) => {
      const client = await JetloopClient.connect({ natsUrl, tenant, actor: actorOf(io.env) });
      try {
        const { input, output } = pipes;
        const complain = (line: string) => {
          io.err.write(`jetloop acp: ${line}\n`);
        };
        await serveAcpAgent({ client, agent, version, input, output, complain, signal: interrupted.signal });
      } finally {
        await client.close();
      }
    });
    return EXIT.completed;
  } finally {
    stopListening();
    pipes.end();
  }
}

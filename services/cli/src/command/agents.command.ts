import { AgentStore, Bus } from '@jetloop/messaging';
import { listAgents } from '../agent/list-agents.js';
import { loadAgent } from '../agent/load-agent.js';
import { writeJson, type CommandIo } from '../command-io.js';
import { natsAddress } from '../embedded/nats-address.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { checkToken } from '../input/check-token.js';
import { renderTable } from '../render/table.js';
import { UsageError } from '../usage-error.js';
import type { RemoteOptions } from './with-client.js';

/** `jetloop agents put`: makes an agent spec known to the services, under its name. */
export async function agentsPutCommand(file: string, options: RemoteOptions, io: CommandIo): Promise<ExitCode> {
  const tenant = checkToken('--tenant', options.tenant);
  const spec = await loadAgent(file);
  const revision = await withAgents(io, options, (store) => store.put(tenant, spec));
  if (options.json) writeJson(io, { tenant, agent: spec.name, revision });
  else io.out.write(`agent ${spec.name} of tenant ${tenant}: revision ${revision}\n`);
  return EXIT.completed;
}

/** `jetloop agents list`: the agent specs that the services know. */
export async function agentsListCommand(options: RemoteOptions, io: CommandIo): Promise<ExitCode> {
  const tenant = checkToken('--tenant', options.tenant);
  const specs = await withAgents(io, options, (store, bus) => listAgents(bus, store, tenant));
  if (options.json) for (const spec of specs) writeJson(io, spec);
  else
    renderTable(
      {
        columns: ['agent', 'models', 'tools'],
        rows: specs.map(({ name, model, tools }) => [name, model?.chain.join(', '), tools.join(', ')]),
      },
      io.out,
    );
  return EXIT.completed;
}

/** `jetloop agents show`: one spec whole, as it is kept. */
export async function agentsShowCommand(name: string, options: RemoteOptions, io: CommandIo): Promise<ExitCode> {
  const tenant = checkToken('--tenant', options.tenant);
  checkToken('agent', name);
  const spec = await withAgents(io, options, (store) => Promise.resolve(store.find(tenant, name)));
  if (!spec)
    throw new UsageError(`There is no agent named ${name} for tenant ${tenant}: \`jetloop agents list\` names them.`);
  io.out.write(`${JSON.stringify(spec, null, options.json ? 0 : 2)}\n`);
  return EXIT.completed;
}

async function withAgents<T>(
  io: CommandIo,
  { nats }: RemoteOptions,
  work: (store: AgentStore, bus: Bus) => Promise<T>,
): Promise<T> {
  const bus = await Bus.connect({ url: await natsAddress(io, nats), name: 'jetloop-agents' });
  try {
    const store = await AgentStore.open(bus);
    try {
      return await work(store, bus);
    } finally {
      store.close();
    }
  } finally {
    await bus.close();
  }
}

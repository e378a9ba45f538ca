import { applyTopology, Bus, topologyOf } from '@jetloop/messaging';
import { writeJson, type CommandIo } from '../command-io.js';
import { natsAddress } from '../embedded/nats-address.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { renderTable } from '../render/table.js';

export interface TopologyCommandOptions {
  readonly nats?: string | undefined;
  /** Copies of every stream. */
  readonly replicas: number;
  readonly json?: boolean | undefined;
}

interface StreamInfo {
  readonly config: { readonly num_replicas: number };
  readonly state: { readonly messages: number; readonly bytes: number };
}

/** `jetloop topology apply`: creates the streams and consumers that are missing, updates what differs, and says what is there. */
export async function topologyApplyCommand(
  { nats, replicas, json }: TopologyCommandOptions,
  io: CommandIo,
): Promise<ExitCode> {
  const bus = await Bus.connect({ url: await natsAddress(io, nats), name: 'jetloop-topology' });
  try {
    await applyTopology(bus, { replicas });
    const { streams, consumers } = topologyOf({ replicas });
    const rows = await Promise.all(
      streams.map(async ({ name }) => {
        const { config, state } = await bus.api<StreamInfo>(`STREAM.INFO.${name}`);
        const own = consumers.filter(({ stream }) => stream === name).map((consumer) => consumer.name);
        return { name, replicas: config.num_replicas, messages: state.messages, bytes: state.bytes, consumers: own };
      }),
    );
    if (json) writeJson(io, { streams: rows });
    else
      renderTable(
        {
          columns: ['stream', 'replicas', 'messages', 'bytes', 'consumers'],
          rows: rows.map((row) => [row.name, row.replicas, row.messages, row.bytes, row.consumers.join(', ')]),
        },
        io.out,
      );
    return EXIT.completed;
  } finally {
    await bus.close();
  }
}

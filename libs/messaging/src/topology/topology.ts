/** Sizes of the streams (bytes). -1: no bound but the server's. */
export interface TopologyOptions {
  /** Copies of every stream; 1 on one server, 3 on a cluster. Default 1. */
  readonly replicas?: number;
  /** Default -1. */
  readonly journalMaxBytes?: number;
  /** Default -1. */
  readonly eventsMaxBytes?: number;
  /** Age (days) after which public events go; default 0, never. */
  readonly eventsMaxAgeDays?: number;
  /** Milliseconds after which an unacknowledged command is delivered again; default 30,000. */
  readonly ackWaitMs?: number;
}

type Config = Readonly<Record<string, unknown>>;

export interface ConsumerTopology {
  readonly stream: string;
  readonly name: string;
  readonly filter: string;
  readonly config: Config;
}

export interface Topology {
  readonly streams: readonly (Config & { readonly name: string })[];
  readonly consumers: readonly ConsumerTopology[];
}

const NANOSECONDS = 1_000_000;
const DAY_MS = 86_400_000;
/** An entry of the ledger goes this long after its last write (spec 8.2). */
const EFFECTS_MAX_AGE_MS = 3_600_000;
/** Within it a message id is stored once; it only spares work (spec 1.3). */
export const DUPLICATE_WINDOW_MS = 120_000;

/** Services that consume COMMANDS, by the durable consumer each shares among its replicas. */
export const commandConsumers = {
  'loop-orchestrator': 'cmd.session.>',
  'llm-router': 'cmd.llm.>',
  'tool-runner': 'cmd.tool.>',
  'hook-policy': 'cmd.hook.>',
  'acp-bridge': 'cmd.acp.>',
} as const;
export type CommandService = keyof typeof commandConsumers;

/** Every stream and consumer with the fields that we set; the server fills in the others (spec 1.2). */
export function topologyOf(options: TopologyOptions = {}): Topology {
  const { replicas = 1, journalMaxBytes = -1, eventsMaxBytes = -1, eventsMaxAgeDays = 0, ackWaitMs = 30_000 } = options;
  const base = { storage: 'file', num_replicas: replicas, duplicate_window: DUPLICATE_WINDOW_MS * NANOSECONDS };
  const keyValue = (bucket: string, allowDirect: boolean, more: Config = {}) => ({
    ...base,
    name: `KV_${bucket}`,
    subjects: [`$KV.${bucket}.>`],
    max_msgs_per_subject: 5,
    discard: 'new',
    allow_rollup_hdrs: true,
    deny_delete: true,
    allow_direct: allowDirect,
    ...more,
  });
  return {
    streams: [
      {
        ...base,
        name: 'JOURNAL',
        subjects: ['log.*.*'],
        retention: 'limits',
        discard: 'new',
        max_bytes: journalMaxBytes,
        allow_direct: true,
        republish: { src: 'log.>', dest: 'feed.>' },
      },
      {
        ...base,
        name: 'EVENTS',
        subjects: ['evt.>'],
        retention: 'limits',
        discard: 'new',
        max_bytes: eventsMaxBytes,
        max_age: eventsMaxAgeDays * DAY_MS * NANOSECONDS,
        allow_direct: true,
        // What a crash of the server takes from its end is unfolded again from the journal, each event where it was. The
        // server has this for one copy alone, and only from the stream's creation on.
        ...(replicas === 1 ? { persist_mode: 'async' } : {}),
      },
      {
        ...base,
        name: 'COMMANDS',
        subjects: ['cmd.>', 'timer.>'],
        retention: 'workqueue',
        // A stream with message schedules cannot refuse new messages; without a bound it never drops old ones.
        discard: 'old',
        allow_msg_schedules: true,
      },
      {
        ...base,
        name: 'DEAD',
        subjects: ['dead.>'],
        retention: 'limits',
        discard: 'old',
        max_age: 30 * DAY_MS * NANOSECONDS,
      },
      keyValue('AGENTS', true),
      keyValue('POLICIES', true),
      keyValue('COOLDOWNS', false),
      keyValue('EFFECTS', false, { max_msgs_per_subject: 1, max_age: EFFECTS_MAX_AGE_MS * NANOSECONDS }),
      keyValue('POSITIONS', false),
      {
        ...base,
        name: 'OBJ_BLOBS',
        subjects: ['$O.BLOBS.C.>', '$O.BLOBS.M.>'],
        discard: 'new',
        allow_rollup_hdrs: true,
        allow_direct: true,
      },
    ],
    consumers: Object.entries(commandConsumers).map(([name, filter]) => ({
      stream: 'COMMANDS',
      name,
      filter,
      config: {
        durable_name: name,
        filter_subject: filter,
        ack_policy: 'explicit',
        deliver_policy: 'all',
        ack_wait: ackWaitMs * NANOSECONDS,
        max_ack_pending: 1000,
        max_deliver: -1,
      },
    })),
  };
}

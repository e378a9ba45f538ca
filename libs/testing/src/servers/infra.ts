import type { Environment } from './environment.js';

/** Where a server came from: an address that was given, a container, a program started here, or not asked for. */
export type ServerOrigin = 'given' | 'containers' | 'embedded' | 'not-needed';

export interface InfraOptions {
  /** Folder that keeps the servers' data between starts. Default: a temporary folder, removed at `stop()`. */
  readonly dataDir?: string;
  /** Number of NATS accounts `T1..Tn` (user and password `t<i>`), each with JetStream. Default: none, and no authentication. */
  readonly natsAccounts?: number;
  /** More lines for the block `jetstream` of the configuration of NATS, such as `sync_interval: always`. Default: none. */
  readonly jetStreamConfig?: readonly string[];
  /** Port of an embedded nats-server on 127.0.0.1, for one that comes back where it was. Default: a free one. */
  readonly natsPort?: number;
  /** More environment for an embedded nats-server. Default: `GOMAXPROCS`, half of the cores. */
  readonly natsEnv?: Readonly<Record<string, string>>;
  /** More flags for Postgres, such as `-c fsync=off`. Default: none, so that `fsync` stays on. */
  readonly postgresFlags?: readonly string[];
  /** Which servers are wanted. Default: both. */
  readonly need?: { readonly nats?: boolean; readonly postgres?: boolean };
  /** Called with a line of text when something takes time, such as a download. */
  readonly onProgress?: (line: string) => void;
  /** The environment that decides where servers come from. Default: `process.env`. */
  readonly env?: Environment;
}

/** Running servers. A server that was not asked for has an empty address. */
export interface Infra {
  readonly natsUrl: string;
  /** Address of the maintenance database of a Postgres on which databases may be created. */
  readonly databaseUrl: string;
  readonly describe: { readonly nats: ServerOrigin; readonly postgres: ServerOrigin };
  /** Ends what was started here and removes temporary data. May be called more than once. */
  stop(): Promise<void>;
}

/** A server that one of the origins has started. */
export interface StartedServer {
  readonly url: string;
  stop(): Promise<void>;
}

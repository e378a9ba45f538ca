export interface NatsConfig {
  readonly host: string;
  /** `-1` lets the server choose a free port, which it writes into `portsFolder`. */
  readonly port: number;
  readonly storeFolder: string;
  readonly portsFolder?: string;
  readonly pidFile?: string;
  /** Accounts `T1..Tn` with user and password `t<i>`. 0: one account, no authentication. */
  readonly accounts: number;
  /** More lines for the block `jetstream`. */
  readonly jetStream?: readonly string[];
}

/** The text of a configuration file of nats-server. `max_payload` stays at the server's default of 1 MiB. */
export function natsConfigText(config: NatsConfig): string {
  const quote = (text: string) => JSON.stringify(text);
  const accounts = Array.from({ length: config.accounts }, (_, index) => {
    const name = `t${index + 1}`;
    return `  ${name.toUpperCase()} { jetstream: enabled, users: [{ user: ${name}, password: ${name} }] }`;
  });
  const lines = [
    `host: ${quote(config.host)}`,
    `port: ${config.port}`,
    ...(config.portsFolder === undefined ? [] : [`ports_file_dir: ${quote(config.portsFolder)}`]),
    ...(config.pidFile === undefined ? [] : [`pid_file: ${quote(config.pidFile)}`]),
    'jetstream {',
    `  store_dir: ${quote(config.storeFolder)}`,
    // Every account reserves the `max_bytes` of its streams: what is only reserved must not run out.
    ...(accounts.length === 0 ? [] : ['  max_file_store: 64TB']),
    ...(config.jetStream ?? []).map((line) => `  ${line}`),
    '}',
    ...(accounts.length === 0 ? [] : ['accounts {', ...accounts, '}']),
  ];
  return `${lines.join('\n')}\n`;
}

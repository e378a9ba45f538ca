const MAX_LENGTH = 200;

/** Who acts on the command line: a name for the audit. */
export function actorOf(env: NodeJS.ProcessEnv): string {
  return `cli:${env['USER'] ?? env['LOGNAME'] ?? 'unknown'}`.slice(0, MAX_LENGTH);
}

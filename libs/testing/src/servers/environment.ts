/** Environment variables, as an argument so that a test can decide them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The value of a variable; an empty one counts as absent. */
export function variable(env: Environment, name: string): string | undefined {
  const value = env[name];
  return value === undefined || value === '' ? undefined : value;
}

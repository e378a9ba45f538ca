const SECRET_NAME = /KEY|SECRET|TOKEN|PASSWORD/i;
/** An address with a password in it, as of a database. */
const WITH_PASSWORD = /:\/\/[^/\s:@]*:[^/\s@]+@/;

/** The service's environment without whatever could be a secret, by name or by a password in an address. */
export function scrubbedEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(
    ([name, value]) => !SECRET_NAME.test(name) && !WITH_PASSWORD.test(value ?? ''),
  );
  return Object.fromEntries(kept);
}

const ALLOWED = new Set(['PATH', 'HOME', 'LANG', 'TERM', 'TMPDIR']);
const DEFAULT_PATH = '/usr/local/bin:/usr/bin:/bin';

/** What a tool's child process sees of the runner's environment: no secrets, only where things are and which language. */
export function childEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  const kept = Object.entries(env).filter(([name]) => ALLOWED.has(name) || name.startsWith('LC_'));
  return { PATH: DEFAULT_PATH, ...Object.fromEntries(kept) };
}

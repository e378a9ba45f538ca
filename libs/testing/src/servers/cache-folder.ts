import { homedir } from 'node:os';
import { join } from 'node:path';
import { type Environment, variable } from './environment.js';

/** Folder of what is fetched once: `$JETLOOP_CACHE`, else `$XDG_CACHE_HOME/jetloop`, else `~/.cache/jetloop`. */
export function cacheFolder(env: Environment): string {
  return (
    variable(env, 'JETLOOP_CACHE') ?? join(variable(env, 'XDG_CACHE_HOME') ?? join(homedir(), '.cache'), 'jetloop')
  );
}

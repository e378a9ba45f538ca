import { createHash } from 'node:crypto';
import { TOOL_NAME } from '../tool/tool-name.js';

const MAX = 64;
const HASH = 10;
const HASHED = new RegExp(`_[0-9a-f]{${HASH}}$`);

/**
 * The public name of a server's tool: `<server>__<tool>`. What does not fit (`^[a-zA-Z0-9_-]{1,64}$`), and what could be read
 * as another server's tool or as a hashed name, gets a hash of both names at its end: the same names always give the same name,
 * and two never share one.
 */
export function fitName(server: string, tool: string): string {
  const plain = `${server}__${tool}`;
  const isAmbiguous = server.includes('__') || server.endsWith('_') || HASHED.test(plain);
  if (!isAmbiguous && TOOL_NAME.test(plain)) return plain;
  const hash = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, HASH);
  return `${plain.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, MAX - HASH - 1)}_${hash}`;
}

/** Whether a public name can be one of the server's tools. */
export function mayBelongTo(server: string, name: string): boolean {
  return name.startsWith(`${server}__`) || HASHED.test(name);
}

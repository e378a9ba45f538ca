import { subjects } from '@jetloop/contracts';

/** Types whose dots become subject tokens as they are. */
const SAFE_TYPE = /^[A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*$/;
const LONGEST_TYPE = 200;

/**
 * Subject of a public event. A type that cannot stand in a subject is written under `unknown.`, with `_` for what is not
 * allowed, so that it reaches no subscriber of a real type; the event itself keeps its type.
 */
export function eventSubject(tenant: string, session: string, type: string): string {
  if (type.length <= LONGEST_TYPE && SAFE_TYPE.test(type)) return subjects.event(tenant, session, type);
  const safe = type.slice(0, LONGEST_TYPE).replace(/[^A-Za-z0-9_-]/g, '_');
  return subjects.event(tenant, session, `unknown.${safe || '_'}`);
}

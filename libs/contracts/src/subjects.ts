import { requireToken } from './tokens.js';

/** Who may write a reply into a session's inbox; each worker has its own subject (spec 1.2). */
export const replyKinds = ['llm', 'tool', 'hook', 'acp', 'child', 'timer'] as const;
export type ReplyKind = (typeof replyKinds)[number];

/** The workers, by the token of their command subject. */
export const workKinds = ['llm', 'tool', 'hook', 'acp'] as const;
export type WorkKind = (typeof workKinds)[number];

/** Kinds of live messages: never stored, never needed for correctness. */
export type LiveKind = 'delta' | 'tool' | 'progress' | 'abort';

const pair = (tenant: string, session: string): string =>
  `${requireToken('tenant', tenant)}.${requireToken('session', session)}`;

/** Builders of every subject. Each refuses an id that is no token. @throws InvalidTokenError */
export const subjects = {
  /** The session's commits in JOURNAL. Watchers subscribe to `feed`, which holds only what was stored. */
  log: (tenant: string, session: string) => `log.${pair(tenant, session)}`,
  feed: (tenant: string, session: string) => `feed.${pair(tenant, session)}`,
  /** One public event; the type's dots become subject tokens. */
  event: (tenant: string, session: string, type: string) => `evt.${pair(tenant, session)}.${type}`,
  inbox: (tenant: string, session: string) => `cmd.session.${pair(tenant, session)}`,
  reply: (tenant: string, session: string, kind: ReplyKind) => `cmd.session.${pair(tenant, session)}.${kind}`,
  work: (kind: WorkKind, tenant: string) => `cmd.${kind}.${requireToken('tenant', tenant)}`,
  timer: (tenant: string, session: string, name: string) =>
    `timer.${pair(tenant, session)}.${requireToken('timer', name)}`,
  live: (tenant: string, session: string, kind: LiveKind) => `live.${pair(tenant, session)}.${kind}`,
  outcome: (tenant: string, session: string, commandId: string) =>
    `outcome.${pair(tenant, session)}.${requireToken('commandId', commandId)}`,
  /** Where a policy in another process, in any language, is asked. */
  policy: (name: string) => `policy.${requireToken('policy', name)}`,
  dead: (service: string, tenant: string) =>
    `dead.${requireToken('service', service)}.${requireToken('tenant', tenant)}`,
} as const;

/** The ids in `log.<tenant>.<session>`, `feed.…`, `cmd.session.…[.<kind>]`; undefined for a subject of another shape. */
export function parseSessionSubject(
  subject: string,
): { tenant: string; session: string; kind: ReplyKind | undefined } | undefined {
  const match = /^(?:log|feed|cmd\.session)\.([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)(?:\.([a-z]+))?$/.exec(subject);
  if (!match) return undefined;
  const [, tenant = '', session = '', kind] = match;
  if (kind === undefined) return { tenant, session, kind: undefined };
  const known = replyKinds.find((candidate) => candidate === kind);
  return known ? { tenant, session, kind: known } : undefined;
}

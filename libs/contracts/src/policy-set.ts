import { z } from 'zod';
import { seams, seamSchema, type Seam } from './seams.js';

const globs = z.array(z.string()).default(['*']);

/**
 * What everybody may know of a stored policy set: for whom it is, and on which seams it has policies.
 * Loose: the rules themselves are the policy service's.
 */
export const policySetHeaderSchema = z.looseObject({
  name: z.string(),
  tenants: globs,
  agents: globs,
  policies: z.array(z.looseObject({ seams: z.array(seamSchema) })),
});
export type PolicySetHeader = z.infer<typeof policySetHeaderSchema>;

/** Whom a seam is evaluated for; `agent` is the agent's name. */
export interface PolicyScope {
  tenant: string;
  agent: string;
}

/**
 * The header of a stored set. A set that cannot be read counts as one for everybody on every seam: its evaluations
 * fail, so that nothing passes undecided (spec 3.3).
 */
export function readPolicySetHeader(name: string, value: unknown): PolicySetHeader {
  const key = typeof value === 'object' && value !== null ? value : undefined;
  const before = key && headers.get(key);
  if (before) return before;
  const parsed = policySetHeaderSchema.safeParse(value);
  const header = parsed.success ? parsed.data : headerForAll(name);
  if (key) headers.set(key, header);
  return header;
}

/** A stored value does not change; its header is asked for at every seam. */
const headers = new WeakMap<object, PolicySetHeader>();

function headerForAll(name: string): PolicySetHeader {
  return { name, tenants: ['*'], agents: ['*'], policies: [{ seams: [...seams] }] };
}

/** Whether the text as a whole matches the glob: `*` is any run of characters, `?` one. Linear in practice, no regular expression. */
export function matchesGlob(glob: string, text: string): boolean {
  let at = 0;
  let inGlob = 0;
  let star = -1;
  let starAt = 0;
  while (at < text.length) {
    if (inGlob < glob.length && glob[inGlob] === '*') {
      star = inGlob++;
      starAt = at;
    } else if (inGlob < glob.length && (glob[inGlob] === '?' || glob[inGlob] === text[at])) {
      inGlob++;
      at++;
    } else if (star >= 0) {
      inGlob = star + 1;
      at = ++starAt;
    } else return false;
  }
  while (glob[inGlob] === '*') inGlob++;
  return inGlob === glob.length;
}

/** Whether a set is for this tenant and agent. */
export function policySetApplies(header: Pick<PolicySetHeader, 'tenants' | 'agents'>, scope: PolicyScope): boolean {
  return (
    header.tenants.some((glob) => matchesGlob(glob, scope.tenant)) &&
    header.agents.some((glob) => matchesGlob(glob, scope.agent))
  );
}

/** The seams that have a policy for this tenant and agent. On all others nobody needs to be asked. */
export function seamsFor(headers: Iterable<PolicySetHeader>, scope: PolicyScope): ReadonlySet<Seam> {
  const found = new Set<Seam>();
  for (const header of headers) {
    if (!policySetApplies(header, scope)) continue;
    for (const policy of header.policies) for (const seam of policy.seams) found.add(seam);
  }
  return found;
}

/**
 * The version of all sets that are for this tenant and agent, `<set>@<revision>` joined by commas; an approval is bound to it.
 * Changes when one of them is put, removed or added, and not when another one is.
 */
export function policyVersionFor(
  sets: ReadonlyMap<string, { revision: number; value: unknown }>,
  scope: PolicyScope,
): string {
  const versions: string[] = [];
  for (const [name, { revision, value }] of sets) {
    if (policySetApplies(readPolicySetHeader(name, value), scope)) versions.push(`${name}@${revision}`);
  }
  return versions.sort().join(',');
}

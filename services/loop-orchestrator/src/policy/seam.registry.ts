import { Injectable } from '@nestjs/common';
import { policyVersionFor, readPolicySetHeader, seamsFor, type Seam } from '@jetloop/contracts';
import { PolicyStore } from '@jetloop/messaging';

/** Which seams have policies for a session, and in which version. */
export interface SessionPolicies {
  readonly seams: ReadonlySet<Seam>;
  readonly policyVersion: string;
}

/** What policies there are, by tenant and agent: an input of every decision, current with the bucket POLICIES. */
@Injectable()
export class SeamRegistry {
  private known = new Map<string, SessionPolicies>();

  constructor(private readonly policies: PolicyStore) {
    policies.onChange(() => {
      this.known = new Map();
    });
  }

  of(tenant: string, agent: string): SessionPolicies {
    const key = `${tenant}.${agent}`;
    const known = this.known.get(key);
    if (known) return known;
    const sets = this.policies.sets();
    const headers = [...sets].map(([name, { value }]) => readPolicySetHeader(name, value));
    const scope = { tenant, agent };
    const found = { seams: seamsFor(headers, scope), policyVersion: policyVersionFor(sets, scope) };
    this.known.set(key, found);
    return found;
  }
}

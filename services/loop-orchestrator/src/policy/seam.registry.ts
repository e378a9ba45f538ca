import { Injectable } from '@nestjs/common';
import type { Seam } from '@jetloop/contracts';
import { readPolicySetHeader, seamsFor } from '@jetloop/contracts';
import { PolicyStore } from '@jetloop/messaging';

/** Which seams have policies, by tenant and agent: an input of every decision, current with the bucket POLICIES. */
@Injectable()
export class SeamRegistry {
  private known = new Map<string, ReadonlySet<Seam>>();

  constructor(private readonly policies: PolicyStore) {
    policies.onChange(() => {
      this.known = new Map();
    });
  }

  of(tenant: string, agent: string): ReadonlySet<Seam> {
    const key = `${tenant}.${agent}`;
    const known = this.known.get(key);
    if (known) return known;
    const headers = [...this.policies.sets()].map(([name, { value }]) => readPolicySetHeader(name, value));
    const seams = seamsFor(headers, { tenant, agent });
    this.known.set(key, seams);
    return seams;
  }
}

import { describe, expect, it } from '@jest/globals';
import { CallLimits } from './call-limits.js';

const released = (limits: CallLimits, tenant: string, tool: string) => {
  const admission = limits.admit(tenant, tool);
  if (!admission.admitted) throw new Error(admission.reason);
  return admission.release;
};

describe('limits of calls', () => {
  it('hold for each tenant on its own, and end with the calls', () => {
    const limits = new CallLimits({ tenantLimit: 2 });
    const release = released(limits, 'a', 'x');
    released(limits, 'a', 'y');
    expect(limits.admit('a', 'z')).toEqual({ admitted: false, reason: 'the tenant has 2 calls running' });
    expect(limits.admit('b', 'z').admitted).toBe(true);
    release();
    expect(limits.admit('a', 'z').admitted).toBe(true);
  });

  it('hold for each tool of a tenant, and leave its others alone', () => {
    const limits = new CallLimits({ toolLimits: { bash: 1 } });
    released(limits, 'a', 'bash');
    expect(limits.admit('a', 'bash')).toMatchObject({ admitted: false, reason: expect.stringContaining('bash') });
    expect(limits.admit('a', 'read_file').admitted).toBe(true);
    expect(limits.admit('b', 'bash').admitted).toBe(true);
  });
});

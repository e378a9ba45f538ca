import { agentSpecSchema, requireToken, type AgentSpec } from '@jetloop/contracts';
import { WatchedBucket } from './watched-bucket.js';
import type { Bus } from '../connection/bus.js';

/** Agent specs of the bucket AGENTS, as `<tenant>.<name>`. */
export class AgentStore {
  private constructor(private readonly bucket: WatchedBucket) {}

  static async open(bus: Bus): Promise<AgentStore> {
    return new AgentStore(await WatchedBucket.open(bus, 'AGENTS'));
  }

  /** The spec, or undefined when there is none of this name or it does not fit the schema any more. */
  find(tenant: string, name: string): AgentSpec | undefined {
    return agentSpecSchema.safeParse(this.bucket.entries().get(keyOf(tenant, name))?.value).data;
  }

  put(tenant: string, spec: AgentSpec): Promise<number> {
    return this.bucket.put(keyOf(tenant, spec.name), spec);
  }

  close(): void {
    this.bucket.close();
  }
}

function keyOf(tenant: string, name: string): string {
  return `${requireToken('tenant', tenant)}.${requireToken('agent', name)}`;
}

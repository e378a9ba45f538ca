import { agentSpecSchema, type AgentSpec } from '@jetloop/contracts';
import { ApiError, type Bus } from '@jetloop/messaging';

const NO_MESSAGE = 10037;

/** The spec of a name in AGENTS; undefined when there is none, or it does not fit the schema any more. */
export async function findAgent(bus: Bus, tenant: string, name: string): Promise<AgentSpec | undefined> {
  try {
    const { message } = await bus.api<{ message: { data?: string } }>('STREAM.MSG.GET.KV_AGENTS', {
      last_by_subj: `$KV.AGENTS.${tenant}.${name}`,
    });
    // Without data it is the mark of a spec that was removed.
    if (message.data === undefined) return undefined;
    const value: unknown = JSON.parse(Buffer.from(message.data, 'base64').toString('utf8'));
    return agentSpecSchema.safeParse(value).data;
  } catch (error) {
    if (error instanceof ApiError && error.code === NO_MESSAGE) return undefined;
    throw error;
  }
}

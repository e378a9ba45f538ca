import { PERMISSION_ASK } from '@jetloop/session';

/** How a request is refused that we do not offer, or a permission request that is none of the schema (spec 6.3). */
export function refusal({ method }: { readonly method: string }): { readonly code: number; readonly reason: string } {
  if (method === PERMISSION_ASK)
    return { code: -32_602, reason: 'Invalid params: expected sessionId, toolCall and options of this session' };
  return { code: -32_601, reason: `Method not found: ${method} is not offered` };
}

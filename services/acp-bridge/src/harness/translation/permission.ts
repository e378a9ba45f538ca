import type { Json } from '@jetloop/contracts';
import { isObject, type JsonObject } from './frame.js';

/** What a permission request is answered with. */
export type PermissionOutcome =
  { readonly outcome: 'selected'; readonly optionId: string } | { readonly outcome: 'cancelled' };

/** How a request is to be answered: as a policy or a person says, or because the turn is over. */
export type Verdict = 'allow' | 'reject' | 'cancelled';

const choices = {
  allow: ['allow_once'],
  reject: ['reject_once', 'reject_always'],
} as const;

/** The first suitable option; never one that allows for good. None suitable: `cancelled` (spec 6.3). */
export function chooseOption(verdict: Verdict, offered: readonly Json[]): PermissionOutcome {
  if (verdict === 'cancelled') return { outcome: 'cancelled' };
  for (const kind of choices[verdict]) {
    for (const option of offered) {
      if (isObject(option) && option['kind'] === kind && typeof option['optionId'] === 'string')
        return { outcome: 'selected', optionId: option['optionId'] };
    }
  }
  return { outcome: 'cancelled' };
}

/** What is asked, and what may be answered. */
export interface Ask {
  readonly toolCallId: string;
  readonly offered: readonly Json[];
}

/** Reads the parameters of `session/request_permission`; undefined: they are none of the schema. */
export function readAsk(params: Json | undefined): Ask | undefined {
  const call: JsonObject[string] | undefined = isObject(params) ? params['toolCall'] : undefined;
  const offered = isObject(params) ? params['options'] : undefined;
  if (!isObject(call) || typeof call['toolCallId'] !== 'string' || !Array.isArray(offered)) return undefined;
  return { toolCallId: call['toolCallId'], offered };
}

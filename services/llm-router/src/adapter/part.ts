import type { FinishReason, Json, LlmError, Usage } from '@jetloop/contracts';

/** A tool as the model is told of it. */
export interface ToolSchema {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Record<string, unknown>;
}

/** A piece of an answer, in the order in which the provider sent it. */
export type Part =
  /** Role deltas, pings, comments: alive, but nothing said yet. */
  | { readonly kind: 'lifecycle' }
  | { readonly kind: 'text'; readonly text: string }
  /** `isNew`: not the rest of the reasoning block before it. */
  | { readonly kind: 'reasoning'; readonly text: string; readonly isNew?: boolean }
  /** Opaque provider state of the reasoning block before it; `isOwn`: of a block without text. */
  | { readonly kind: 'reasoning-state'; readonly value: Json; readonly isOwn?: boolean }
  /** `call` numbers the calls of the answer from 0; id and name come with the first fragment of a call. */
  | {
      readonly kind: 'call';
      readonly call: number;
      readonly id?: string;
      readonly name?: string;
      readonly arguments: string;
      /** Opaque provider state of the call. */
      readonly state?: Json;
    }
  /** Later ones replace earlier ones. */
  | { readonly kind: 'usage'; readonly usage: Usage }
  | { readonly kind: 'model'; readonly served: string }
  /** The last part is exactly one of these two. `raw`: what the provider gave as the reason. */
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly raw?: string }
  | {
      readonly kind: 'error';
      readonly error: LlmError;
      /** The provider refused the reasoning state of earlier answers: the same call without it may pass. */
      readonly aboutReasoningState?: boolean;
    };

/** Whether this part commits an attempt: a failure after it is seen by live subscribers (spec 4.5). */
export function isContent(part: Part): boolean {
  return part.kind === 'text' || part.kind === 'reasoning' ? part.text !== '' : part.kind === 'call';
}

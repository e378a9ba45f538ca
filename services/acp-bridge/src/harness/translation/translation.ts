import type { ContentBlock, HarnessEvent, Json } from '@jetloop/contracts';

/** The agent's chunk streams, each gathered into messages of its own. */
export type Stream = 'agent' | 'thought' | 'user';

/** A message of which chunks have come and its end has not. `size`: bytes of its text and blocks. */
export interface OpenMessage {
  readonly messageId: string | undefined;
  readonly blocks: readonly ContentBlock[];
  /** Text at its end that is no block yet. */
  readonly text: string;
  readonly meta: readonly Json[];
  readonly size: number;
}

/** A call without a result. */
export interface OpenCall {
  readonly n: number;
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly rawOutput?: Json;
  readonly content?: Json;
}

/** Where a translation stands. Never changed: each frame makes a new one. */
export interface Translation {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  /** The agent's own session; updates of another one are foreign. */
  readonly agentSession: string | undefined;
  /** The worker sequence of the next durable event. */
  readonly sequence: number;
  readonly streams: Readonly<Partial<Record<Stream, OpenMessage>>>;
  readonly calls: ReadonlyMap<string, OpenCall>;
  readonly nextCall: number;
  /** The prompt was answered: what still comes is only kept. */
  readonly answered: boolean;
}

/** Who and what an event is of. `sequence` is null for what is live only, `logSequence` until it is committed. */
export interface Stamp {
  readonly tenant: string;
  readonly session: string;
  readonly turn: number;
  readonly step: number;
  readonly attempt: number;
  readonly sequence: number | null;
  readonly logSequence: null;
  readonly durable: boolean;
  readonly agentId: string;
  readonly agentRole: 'agent';
}

/** What a frame says that is shown while it happens, and not stored by itself. */
export interface Delta {
  readonly kind: 'text' | 'reasoning';
  readonly text: string;
  readonly messageId?: string;
}

export type Translated =
  { readonly stamp: Stamp; readonly event: HarnessEvent } | { readonly stamp: Stamp; readonly delta: Delta };

/** A piece of a translation before it is stamped. */
export type Piece = HarnessEvent | { readonly delta: Delta };

export interface Step {
  readonly state: Translation;
  readonly pieces: readonly Piece[];
}

const NIL_UUID = '00000000-0000-0000-0000-000000000000';

/** The translation of an attempt before its first frame. `sequence`: where its durable events begin. */
export function beginTranslation(
  where: Pick<Translation, 'tenant' | 'session' | 'turn' | 'step' | 'attempt'>,
  sequence = 0,
): Translation {
  const { tenant, session, turn, step, attempt } = where;
  const nothing = { agentSession: undefined, streams: {}, calls: new Map<string, OpenCall>() };
  return { tenant, session, turn, step, attempt, sequence, nextCall: 0, answered: false, ...nothing };
}

/** Numbers the durable pieces of a step and says whose they are. */
export function stamped({ state, pieces }: Step): { readonly state: Translation; readonly translated: Translated[] } {
  const { tenant, session, turn, step, attempt } = state;
  let { sequence } = state;
  const stamp = (position: number | null): Stamp => ({
    ...{ tenant, session, turn, step, attempt },
    sequence: position,
    logSequence: null,
    durable: position !== null,
    agentId: NIL_UUID,
    agentRole: 'agent',
  });
  const translated = pieces.map((piece): Translated =>
    'delta' in piece ? { stamp: stamp(null), delta: piece.delta } : { stamp: stamp(sequence++), event: piece },
  );
  return { state: { ...state, sequence }, translated };
}

/** A frame kept verbatim. */
export function raw(source: string, value: Json): HarnessEvent {
  return { type: 'harness.raw', data: { source, value } };
}

import { notification } from './rpc.js';

/** What somebody outside may want of a running turn. */
export type Intervention =
  | { readonly kind: 'cancel' }
  | { readonly kind: 'inject_message'; readonly lane: 'steer' | 'inject'; readonly text: string }
  | { readonly kind: 'pause_resume'; readonly paused: boolean }
  | { readonly kind: 'update_budget'; readonly tokens?: number; readonly cost?: number }
  | { readonly kind: 'respond_to_approval'; readonly approvalId: string; readonly approved: boolean };

/** The attempt that is meant. `ended`: its prompt was answered, or it never got that far. */
export interface InterventionTarget {
  readonly agentSession: string;
  readonly ended: boolean;
}

/** What an intervention comes to: frames for the agent's input, or why there are none. */
export type Intervened =
  | { readonly frames: readonly string[] }
  | { readonly refused: 'CapabilityNotSupported'; readonly primitive: Intervention['kind'] }
  | { readonly refused: 'StaleTarget' };

/** The protocol has a frame for a cancel, and for nothing else (spec 6.4). */
export function intervene(intervention: Intervention, target: InterventionTarget): Intervened {
  if (intervention.kind !== 'cancel') return { refused: 'CapabilityNotSupported', primitive: intervention.kind };
  if (target.ended) return { refused: 'StaleTarget' };
  return { frames: [notification('session/cancel', { sessionId: target.agentSession })] };
}

const examples: readonly Intervention[] = [
  { kind: 'cancel' },
  { kind: 'inject_message', lane: 'steer', text: '' },
  { kind: 'pause_resume', paused: true },
  { kind: 'update_budget' },
  { kind: 'respond_to_approval', approvalId: '', approved: false },
];

/** The interventions that an agent can be given, whatever it advertises itself: those that come to frames. */
export const supportedInterventions: ReadonlySet<Intervention['kind']> = new Set(
  examples.filter((one) => 'frames' in intervene(one, { agentSession: '', ended: false })).map(({ kind }) => kind),
);

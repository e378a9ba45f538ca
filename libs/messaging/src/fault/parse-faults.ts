/** Where a fault can be made. */
export const faultPoints = [
  ...['commit', 'send', 'outcome', 'ack', 'reply', 'dead'].flatMap(
    (name) => [`${name}.before`, `${name}.after`] as const,
  ),
  'ledger.after-start',
  'effect.after',
];
export type FaultPoint =
  | `${'commit' | 'send' | 'outcome' | 'ack' | 'reply' | 'dead'}.${'before' | 'after'}`
  | 'ledger.after-start'
  | 'effect.after';

const actions = ['kill', 'exit', 'stop', 'throw', 'hang', 'drop', 'delay'] as const;

export interface Fault {
  readonly point: string;
  readonly action: (typeof actions)[number];
  /** Milliseconds; action delay only. */
  readonly delayMs: number;
  /** It happens when the point is passed for this time, from 1. */
  readonly nth: number;
}

/** `JETLOOP_FAULT` names what does not exist. */
export class FaultError extends Error {
  override readonly name = 'FaultError';
}

/** Reads `point:action[@nth],…`; `delay` takes milliseconds: `send.before:delay=200@2`. @throws FaultError */
export function parseFaults(text: string | undefined): Fault[] {
  if (text === undefined || text === '') return [];
  return text.split(',').map((item) => {
    const match = /^([a-z.-]+):([a-z]+)(?:=(\d+))?(?:@(\d+))?$/.exec(item.trim());
    const [, point = '', name, delay = '0', nth = '1'] = match ?? [];
    const action = actions.find((candidate) => candidate === name);
    if (!faultPoints.some((known) => known === point) || !action || nth === '0') {
      throw new FaultError(
        `JETLOOP_FAULT: ${JSON.stringify(item)} is not known: expected point:action[@nth] with a point of ${faultPoints.join(', ')} and an action of ${actions.join(', ')} (delay=<ms>)`,
      );
    }
    return { point, action, delayMs: Number(delay), nth: Number(nth) };
  });
}

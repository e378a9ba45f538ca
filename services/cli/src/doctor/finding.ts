/** One thing that was looked at. `optional`: it is not there, and a run works without it. */
export interface Finding {
  readonly name: string;
  readonly state: 'ok' | 'optional' | 'missing';
  /** What is there, or what is wrong. */
  readonly detail: string;
  /** What to do. */
  readonly remedy?: string | undefined;
}

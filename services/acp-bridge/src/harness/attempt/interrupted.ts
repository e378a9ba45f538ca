import type { Stop } from '../translation/stop.js';

/** Ends the conversation from outside, with how the attempt ended; `kill`: the process gets no time. */
export class Interrupted extends Error {
  constructor(
    readonly end: Stop | 'over',
    readonly kill: boolean,
  ) {
    super('interrupted');
  }
}

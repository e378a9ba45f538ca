/** Races and kills as often as the acceptance list has them (JETLOOP_WHOLE=1, as in CI); else a part, so that `npm test` takes minutes. */
export const isWhole = process.env['JETLOOP_WHOLE'] === '1';

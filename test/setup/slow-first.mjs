import { statSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** What takes long begins first, so that no worker is left alone with it at the end: a clean clone knows no durations. */
const ORDER = ['e2e', 'recorded', 'integration', 'unit'];

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const rank = ({ context, path }) => [
      ORDER.indexOf(context.config.displayName?.name),
      // They start processes over and over.
      path.includes('/test/faults/') ? 0 : 1,
      -statSync(path).size,
    ];
    const ranked = [...tests].map((test) => ({ test, rank: rank(test) }));
    ranked.sort(({ rank: a }, { rank: b }) => a[0] - b[0] || a[1] - b[1] || a[2] - b[2]);
    return ranked.map(({ test }) => test);
  }
}

import { statSync } from 'node:fs';
import Sequencer from '@jest/test-sequencer';

/** What takes long begins first, so that no worker is left alone with it at the end: a clean clone knows no durations. */
const ORDER = ['e2e', 'recorded', 'integration', 'unit'];

export default class SlowFirst extends Sequencer {
  sort(tests) {
    const rank = ({ context, path }) => [ORDER.indexOf(context.config.displayName?.name), -statSync(path).size];
    const ranked = [...tests].map((test) => ({ test, rank: rank(test) }));
    ranked.sort((a, b) => a.rank[0] - b.rank[0] || a.rank[1] - b.rank[1]);
    return ranked.map(({ test }) => test);
  }
}

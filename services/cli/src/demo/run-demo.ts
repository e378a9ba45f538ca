import type { Terminal } from '../render/terminal.js';

/** Placeholder: the demo is not written yet. */
export function runDemo({ terminal }: { readonly json: boolean; readonly terminal: Terminal }): Promise<number> {
  terminal.write('The demo is not written yet.\n');
  return Promise.resolve(1);
}

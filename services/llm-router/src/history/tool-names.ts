import { createHash } from 'node:crypto';
import type { DerivedMessage } from '@jetloop/contracts';

const ACCEPTED = /^[A-Za-z0-9_-]{1,64}$/;
const HASH = 12;
const LONGEST = 64;

/**
 * Names of tools as every provider takes them: others get a readable one with a hash, the same in every process, which is
 * mapped back in the answer. The hash keeps names apart that look alike once their dots are gone.
 */
export class ToolNames {
  private readonly originals = new Map<string, string>();

  constructor(names: readonly string[]) {
    for (const name of names) this.originals.set(this.toWire(name), name);
  }

  toWire(name: string): string {
    if (ACCEPTED.test(name)) return name;
    const hash = createHash('sha256').update(name).digest('hex').slice(0, HASH);
    return `${name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, LONGEST - HASH - 1)}_${hash}`;
  }

  /** A name that the model made up stays as it is. */
  fromWire(name: string): string {
    return this.originals.get(name) ?? name;
  }
}

/** Tools that earlier answers called: a model may call them again after they are gone. */
export function calledNames(messages: readonly DerivedMessage[]): string[] {
  return messages.flatMap(({ content }) =>
    content.flatMap((block) => (block.type === 'tool-call' ? [block.name] : [])),
  );
}

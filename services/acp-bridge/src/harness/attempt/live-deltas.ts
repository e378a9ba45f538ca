import type { AcpCommand } from '@jetloop/contracts';
import type { LiveChannel } from '@jetloop/messaging';
import type { Delta } from '../translation/translation.js';

/** Characters of a text that one live message carries: more of them might be too many for the server. */
const MAX_PIECE = 64 * 1024;

/** What an attempt says while it says it. */
export class LiveDeltas {
  private n = 0;

  constructor(
    private readonly live: LiveChannel,
    private readonly command: Pick<AcpCommand, 'tenant' | 'session' | 'turn' | 'step' | 'commandId'>,
  ) {}

  publish(delta: Delta): void {
    for (const text of piecesOf(delta.text)) this.send({ ...delta, text });
  }

  end(): void {
    this.send({ kind: 'end' });
  }

  private send(value: Delta | { readonly kind: 'end' }): void {
    const { tenant, session, turn, step, commandId } = this.command;
    this.live.publish('delta', tenant, session, { turn, step, attemptId: commandId, n: this.n++, ...value });
  }
}

/** Pieces of a text, none of which ends within a character. */
function piecesOf(text: string): string[] {
  const pieces: string[] = [];
  for (let start = 0; start === 0 || start < text.length;) {
    let end = start + MAX_PIECE;
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end--;
    pieces.push(text.slice(start, end));
    start = end;
  }
  return pieces;
}

function isHighSurrogate(unit: number): boolean {
  return unit >= 0xd800 && unit < 0xdc00;
}

import { describe, expect, it } from '@jest/globals';
import type { LiveDelta, SessionEvent } from '@jetloop/contracts';
import { entriesOf, events, recordingTerminal } from '../testing/entries.js';
import { TurnRenderer } from './turn-renderer.js';
import type { Terminal } from './terminal.js';

function shown(list: SessionEvent[], options: Partial<Terminal> = {}): string[] {
  const { terminal, written } = recordingTerminal(options);
  const renderer = new TurnRenderer(terminal, { resultLines: 2 });
  for (const entry of entriesOf(...list)) renderer.event(entry);
  return written().split('\n');
}

const delta = (n: number, text: string, attemptId = 'a1', kind: LiveDelta['kind'] = 'text'): LiveDelta => ({
  turn: 1,
  step: 1,
  attemptId,
  n,
  kind,
  text,
});

describe('a turn elsewhere than on a terminal', () => {
  it('reads from prompt to totals', () => {
    const lines = shown([
      events.turnStart(),
      events.userMessage('Mend it'),
      events.stepStart(1),
      events.answer(1, 'I look first.'),
      events.call(0, 'bash', { command: 'npm test' }),
      events.result(0, 'one\ntwo\nthree\nfour', true),
      events.call(1, 'read_file', { path: 'a.js' }),
      events.result(1, 'x'),
      events.stepStart(2),
      events.answer(2, 'Done.'),
      events.turnEnd(),
    ]);
    expect(lines).toEqual([
      '› Mend it',
      '',
      'I look first.',
      '',
      `  ✗ bash  npm test${' '.repeat(57)}12 ms`,
      '    one',
      '    two',
      '    … 2 more lines',
      `  ✓ read_file  a.js${' '.repeat(56)}12 ms`,
      '    x',
      '',
      'Done.',
      '',
      '✓ completed',
      '  2 steps · 2 tool calls · 2,400 tokens in, 68 out · $0.0250 · 100 ms',
      '',
    ]);
  });

  it('shows a denied call with the policy and its reason, and not the result', () => {
    const lines = shown([
      events.turnStart(),
      events.denied(0, 'guard', 'not here'),
      events.call(0, 'bash', { command: 'rm -rf /' }, 'deny'),
      events.result(0, 'Denied by policy guard: not here', true),
    ]);
    expect(lines.slice(-3)).toEqual([`  ⊘ bash  rm -rf /${' '.repeat(56)}denied`, '    policy guard: not here', '']);
  });

  it('says how a turn ended that was rejected, and that a price is unknown', () => {
    const lines = shown([
      events.turnStart(),
      events.answer(1, '', null),
      { type: 'turn.end', data: { turn: 1, reason: { kind: 'error', step: 1, code: 'auth', message: 'no key' } } },
    ]);
    expect(lines).toContain('✗ error (auth): no key');
    expect(lines.find((line) => line.includes('tokens'))).toContain('cost unknown');
  });

  it('takes escape sequences out of what tools and models say', () => {
    const lines = shown([
      events.turnStart(),
      events.answer(1, 'a\u001b[2Jb\u001b]0;title\u0007c\u0008'),
      events.call(0, 'bash', { command: 'printf "\u001b[31m"' }),
      events.result(0, '\u001b[31mred\u001b[0m'),
    ]);
    expect(lines.join('\n')).not.toMatch(/(?!\n)\p{Cc}/u);
    expect(lines).toContain('abc');
    expect(lines).toContain('    red');
  });

  it('has plain symbols where others cannot be shown', () => {
    const lines = shown([events.turnStart(), events.call(0, 'a', {}), events.result(0, 'x'), events.turnEnd()], {
      unicode: false,
    });
    expect(lines.join('\n')).toMatch(/^[\x20-\x7e\n]*$/);
  });

  it('streams nothing: text that is written cannot be taken back', () => {
    const { terminal, written } = recordingTerminal();
    new TurnRenderer(terminal).delta(delta(0, 'Hello'));
    expect(written()).toBe('');
  });
});

describe('a turn on a terminal', () => {
  function renderer() {
    const { terminal, written } = recordingTerminal({ isTTY: true, columns: 60 });
    return { renderer: new TurnRenderer(terminal), written };
  }
  const answer = (text: string) => entriesOf(events.answer(1, text))[0]!;

  it('streams an answer once, and adds only what did not arrive', () => {
    const { renderer: one, written } = renderer();
    one.delta(delta(0, 'Hel'));
    one.delta(delta(1, 'lo'));
    one.event(answer('Hello you'));
    expect(written()).toBe('Hello you\n');
  });

  it('shows the whole answer when pieces got lost', () => {
    const { renderer: one, written } = renderer();
    one.delta(delta(0, 'Hel'));
    one.delta(delta(2, 'you'));
    one.event(answer('Hello you'));
    expect(written()).toBe('Helyou\n\nHello you\n');
  });

  it('says so when an attempt is given up, and leaves out what still comes of it', () => {
    const { renderer: one, written } = renderer();
    one.delta(delta(0, 'Wrong'));
    one.delta(delta(1, '', 'a1', 'reset'));
    one.delta(delta(2, ' more', 'a1'));
    one.delta(delta(0, 'Right', 'a2'));
    one.event(answer('Right'));
    expect(written()).toBe('Wrong\n  + the answer begins again: another try took over\n\nRight\n');
  });

  it('leaves out pieces that arrive after the answer', () => {
    const { renderer: one, written } = renderer();
    one.event(answer('Hello'));
    one.delta(delta(0, 'Hello'));
    expect(written()).toBe('Hello\n');
  });

  it('says in one line what runs, and takes it away', () => {
    const { renderer: one, written } = renderer();
    const [start, call, result] = entriesOf(
      events.turnStart(),
      events.call(0, 'bash', { command: 'npm test' }),
      events.result(0, ''),
    );
    one.event(start!);
    one.event(call!);
    expect(written()).toBe('  ◌ bash npm test');
    one.output({ turn: 1, step: 1, n: 0, callId: 'call-0', text: 'first\nlast\n' });
    expect(written()).toBe('  ◌ bash npm test\r\u001b[K  ◌ bash · last');
    one.event(result!);
    expect(written().split('\u001b[K').at(-1)).toBe(`  ✓ bash  npm test${' '.repeat(37)}12 ms\n`);
  });
});

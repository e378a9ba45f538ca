import { expect, it } from '@jest/globals';
import { entriesOf, events, recordingTerminal } from '../testing/entries.js';
import { arrivalLine, timelineLines } from './timeline.js';

const list = entriesOf(
  events.turnStart(),
  events.userMessage('Mend\nit'),
  events.answer(1, 'Yes.'),
  events.call(0, 'bash', { command: 'npm test' }),
  events.result(0, 'all\nfine'),
  events.turnEnd(),
);

it('has one aligned line an event, with its offset from the first', () => {
  expect(timelineLines(list, recordingTerminal().terminal)).toEqual([
    ' +0 ms  0  turn.start         turn 1, by message',
    '+10 ms  1  user.message       "Mend\\nit"',
    '+20 ms  2  assistant.message  "Yes." (stop, m, 1,200 in, 34 out, $0.0125)',
    '+30 ms  3  tool.call          bash npm test',
    '+40 ms  4  tool.result        ok in 12 ms: all fine',
    '+50 ms  5  turn.end           turn 1: completed',
  ]);
});

it('cuts a line to the terminal', () => {
  const lines = timelineLines(list, recordingTerminal({ isTTY: true, columns: 50 }).terminal);
  expect(lines[2]).toBe('+20 ms  2  assistant.message  "Yes." (stop, m, 1,…');
});

it('shows an event that this version does not know with its data', () => {
  const unknown = { ...list[0]!, event: { sequence: 0, type: 'moon.phase', version: 3, data: { full: true } } };
  expect(timelineLines([unknown], recordingTerminal().terminal)).toEqual([
    '+0 ms  0  moon.phase  (version 3) {"full":true}',
  ]);
});

it('has a line an arrival, in columns though the next ones are not known', () => {
  const { terminal } = recordingTerminal();
  expect(list.slice(1, 3).map((entry) => arrivalLine(entry, terminal))).toEqual([
    '00:00:00.010      1  user.message        "Mend\\nit"',
    '00:00:00.020      2  assistant.message   "Yes." (stop, m, 1,200 in, 34 out, $0.0125)',
  ]);
});

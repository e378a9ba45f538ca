import { expect, it } from '@jest/globals';
import { terminalOf } from './terminal.js';

const stream = (isTTY: boolean) => ({ isTTY, columns: 80, write: () => true });

it.each([
  [true, {}, true],
  [true, { NO_COLOR: '1' }, false],
  [true, { NO_COLOR: '' }, true],
  [true, { TERM: 'dumb' }, false],
  [false, {}, false],
])('on a terminal %s with %j colours are %s', (isTTY, env, color) => {
  expect(terminalOf(stream(isTTY), env).color).toBe(color);
});

it('has no width where it is no terminal', () => {
  expect(terminalOf(stream(false), {}).columns).toBeUndefined();
  expect(terminalOf(stream(true), {}).columns).toBe(80);
});

import { expect, it } from '@jest/globals';
import { TerminalError } from '../errors.js';
import { parseWork } from './parse-work.js';

it.each([
  ['is no JSON', 'the canary sings'],
  ['is another thing', JSON.stringify({ purpose: 'the canary sings', session: ['the canary sings'] })],
])('a body that %s is told of without a word of it', (_what, body) => {
  const parsed = () => parseWork('llm', Buffer.from(body));
  expect(parsed).toThrow(TerminalError);
  expect(parsed).toThrow(/^no (?!.*canary)/s);
});

import type { ReplayDialect } from '../replay-fixture.js';
import { anthropicProblem } from './anthropic-problem.js';
import { chatProblem } from './chat-problem.js';
import { googleProblem } from './google-problem.js';

/** What a strict provider would refuse about a request; undefined: nothing. */
export function strictProblem(dialect: ReplayDialect, body: unknown): string | undefined {
  switch (dialect) {
    case 'chat':
      return chatProblem(body);
    case 'anthropic':
      return anthropicProblem(body);
    case 'google':
      return googleProblem(body);
  }
}

import { matchesGlob, type SeamSubject } from '@jetloop/contracts';
import type { EvaluationContext } from '../policy/policy.js';
import { compileArgument } from './argument-condition.js';
import { compileCommand } from './command-condition.js';
import { textsOf } from './content-text.js';
import type { When } from './rule-parts.schema.js';
import { compilePattern } from './safe-pattern.js';
import { compileText } from './text-condition.js';

/** Whether a condition holds, and with `detail` what it found beyond what the rule says. */
export type Match = false | { detail?: string };
type Condition = (subject: SeamSubject, context: EvaluationContext) => Match | Promise<Match>;

const when = (holds: boolean): Match => holds && {};

/** All conditions of a rule; it matches when every one of them does. */
export function compileConditions(conditions: When): Condition {
  const tests = compileEach(conditions);
  return async (subject, context) => {
    const found: { detail?: string } = {};
    for (const test of tests) {
      const match = await test(subject, context);
      if (!match) return false;
      Object.assign(found, match);
    }
    return found;
  };
}

function compileEach(conditions: When): Condition[] {
  const tests: Condition[] = [];
  const { tool, readonly, argument, command, prompt, result, forced, default: expected } = conditions;
  const { 'calls-before': calls, 'estimated-tokens': tokens } = conditions;
  if (tool) {
    const names = tool.map(compileName);
    tests.push((subject) => when('name' in subject && names.some((name) => name(subject.name))));
  }
  if (readonly !== undefined) {
    tests.push((subject) => when(subject.seam === 'pre-tool' && subject.tool.readonly === readonly));
  }
  if (calls) tests.push((subject) => when(subject.seam === 'pre-tool' && within(subject.callsBefore, calls)));
  if (tokens) tests.push((subject) => when('estimatedTokens' in subject && within(subject.estimatedTokens, tokens)));
  if (forced) tests.push((subject) => when('forced' in subject && within(subject.forced, forced)));
  if (expected) tests.push((subject) => when('default' in subject && subject.default === expected));
  for (const test of (argument ?? []).map(compileArgument)) {
    tests.push((subject) => when('arguments' in subject && test(subject.arguments ?? {}, subject.workspace)));
  }
  if (command) {
    const test = compileCommand(command);
    tests.push((subject) => {
      const detail = 'arguments' in subject ? test(subject.arguments ?? {}) : undefined;
      return detail !== undefined && { detail };
    });
  }
  if (prompt) {
    const test = compileText(prompt);
    tests.push(async (subject, context) =>
      when(subject.seam === 'prompt-submit' && test(await textsOf(subject.content, context))),
    );
  }
  if (result) {
    const test = compileText(result);
    tests.push(async (subject, context) => {
      if (subject.seam !== 'post-tool') return false;
      const output = subject.result.output === undefined ? [] : [JSON.stringify(subject.result.output)];
      return when(test([...(await textsOf(subject.result.content, context)), ...output]));
    });
  }
  return tests;
}

function compileName(name: string): (tool: string) => boolean {
  if (!name.startsWith('/')) return (tool) => matchesGlob(name, tool);
  const pattern = compilePattern(name);
  return (tool) => pattern.test(tool);
}

const within = (value: number, { gt, lt }: { gt?: number | undefined; lt?: number | undefined }): boolean =>
  (gt === undefined || value > gt) && (lt === undefined || value < lt);

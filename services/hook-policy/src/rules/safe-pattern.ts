import { createContext, Script } from 'node:vm';
import { PolicyError } from '../policy/policy-error.js';

/** Longest time that one regular expression may take on one text: far over any honest one, on a busy machine too. */
const LIMIT_MS = 500;

/** A regular expression of an operator that meets texts of strangers: it can neither hang the service nor keep state. */
export interface SafePattern {
  /** @throws PolicyError `pattern_timeout` */
  test(text: string): boolean;
  /** @throws PolicyError `pattern_timeout` */
  replaceAll(text: string, by: string): string;
}

interface Shared {
  pattern: RegExp;
  text: string;
  by: string;
}
const shared: Shared = { pattern: /x/, text: '', by: '' };
const sandbox = createContext(shared);
const testScript = new Script('pattern.test(text)');
const replaceScript = new Script('text.replace(pattern, () => by)');

/** `text` or `/text/flags` with the flags i, m and s. @throws SyntaxError when it is no regular expression */
export function compilePattern(source: string): SafePattern {
  const { pattern, flags } = splitPattern(source);
  // Compiled twice: the one for `test` must not remember where it stopped.
  const once = new RegExp(pattern, `${flags}u`);
  const every = new RegExp(pattern, `${flags}gu`);
  return {
    test: (text) => run(testScript, once, text, '') === true,
    replaceAll: (text, by) => {
      const replaced: unknown = run(replaceScript, every, text, by);
      return typeof replaced === 'string' ? replaced : text;
    },
  };
}

/** From an expression of our own (a glob's), under the same limit. */
export function guardPattern(expression: RegExp): Pick<SafePattern, 'test'> {
  return { test: (text) => run(testScript, expression, text, '') === true };
}

function splitPattern(source: string): { pattern: string; flags: string } {
  const slashed = /^\/([\s\S]+)\/([a-z]*)$/.exec(source);
  if (!slashed) return { pattern: source, flags: '' };
  const [, pattern = '', flags = ''] = slashed;
  if (/[^ims]/.test(flags)) throw new SyntaxError(`the flags "${flags}": expected none or some of i, m and s`);
  return { pattern, flags };
}

function run(script: Script, pattern: RegExp, text: string, by: string): unknown {
  Object.assign(shared, { pattern, text, by });
  try {
    return script.runInContext(sandbox, { timeout: LIMIT_MS });
  } catch (error) {
    // By its code: the error may be of another realm than ours.
    if (typeof error === 'object' && error && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT') {
      throw new PolicyError('pattern_timeout', `the pattern ${pattern.source} took more than ${LIMIT_MS} ms`);
    }
    throw error;
  } finally {
    shared.text = '';
  }
}

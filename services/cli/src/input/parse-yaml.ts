import { LineCounter, parseDocument } from 'yaml';
import { UsageError } from '../usage-error.js';

/** Nested aliases stand for more values than this: refused, so that a small file never becomes a huge value. */
const MAX_ALIASES = 100;

/** Reads YAML or JSON. @throws UsageError naming file, line and column of each error */
export function parseYaml(text: string, file: string): unknown {
  const lineCounter = new LineCounter();
  const document = parseDocument(text, { lineCounter, prettyErrors: false });
  if (document.errors.length > 0) {
    const problems = document.errors.map(({ message, pos }) => {
      const { line, col } = lineCounter.linePos(pos[0]);
      return `${file}:${line}:${col}: ${message}`;
    });
    throw new UsageError(problems.join('\n'));
  }
  try {
    const value: unknown = document.toJS({ maxAliasCount: MAX_ALIASES });
    return value;
  } catch (error) {
    throw new UsageError(`${file}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

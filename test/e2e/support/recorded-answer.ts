import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a file of streamed chat answers comes to, read with regular expressions alone: independent of every adapter. */
export function expectedOf(folder: string, name: string): { text: string; reasoning: string; calls: string[] } {
  const raw = readFileSync(join(folder, `${name}.chunks.txt`), 'utf8');
  const all = (key: string) =>
    [...raw.matchAll(new RegExp(`"${key}":\\s*("(?:[^"\\\\]|\\\\.)*")`, 'g'))].map(([, literal = '""']) =>
      String(JSON.parse(literal)),
    );
  return {
    text: all('content').join(''),
    reasoning: all('reasoning_content').join(''),
    calls: [all('arguments').join('')],
  };
}

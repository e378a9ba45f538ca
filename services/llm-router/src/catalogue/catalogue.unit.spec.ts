import { readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { parse } from 'yaml';
import { catalogueOf, CatalogueError } from './catalogue.js';
import { parseCatalogue } from './load-catalogue.js';

const minimal = 'targets:\n  fast: { provider: openai, dialect: chat, model: small-1 }\n';

function problemOf(text: string): string {
  try {
    parseCatalogue(text, 'models.yaml');
  } catch (error) {
    if (error instanceof CatalogueError) return error.message;
    throw error;
  }
  throw new Error('expected a CatalogueError');
}

/** A YAML list of rules as one line. */
function itemsOf(rules: string): string {
  const value: unknown = parse(rules);
  return JSON.stringify(value).slice(1, -1);
}

describe('parseCatalogue', () => {
  it('fills in the defaults of spec 4.2, times in milliseconds', () => {
    expect(parseCatalogue(minimal, 'models.yaml').get('fast')).toEqual({
      name: 'fast',
      provider: 'openai',
      dialect: 'chat',
      model: 'small-1',
      capabilities: {
        vision: false,
        thinking: false,
        promptCaching: false,
        imageUrls: false,
        imageMediaTypes: 'common',
      },
      stream: true,
      requestTimeout: 600_000,
      firstTokenTimeout: 120_000,
      idleTimeout: 30_000,
      throttleDelay: 0,
      retryCount: 2,
      jitterBackoff: 500,
      cooldown: 5_000,
      maxRetryAfter: 60_000,
    });
  });

  it('reads JSON as well', () => {
    const target = { provider: 'openai', dialect: 'chat', model: 'small-1' };
    expect([...parseCatalogue(JSON.stringify({ targets: { fast: target } }), 'models.json').keys()]).toEqual(['fast']);
  });

  it('lets both cache prices default to the input price, and leaves unknown prices unknown', () => {
    const prices = { input: 3, output: 15 };
    const target = { provider: 'openai', dialect: 'chat', model: 'm' } as const;
    const catalogue = catalogueOf({ targets: { a: { ...target, prices }, b: target } }, 'test');
    expect(catalogue.get('a')?.prices).toEqual({ input: 3, cacheRead: 3, cacheWrite: 3, output: 15 });
    expect(catalogue.get('b')?.prices).toBeUndefined();
  });

  it('names file, path and expectation of every problem', () => {
    const text = 'targets:\n  fast: { provider: openai, dialect: telepathy, model: m, requestTimeout: soon }\n';
    const problem = problemOf(text);
    expect(problem).toMatch(/^models\.yaml: targets\.fast\.dialect: .*"chat".*"scripted"/m);
    expect(problem).toMatch(/^models\.yaml: targets\.fast\.requestTimeout: .*expected number/m);
  });

  it('says where YAML itself is broken', () => {
    expect(problemOf('targets: [')).toMatch(/^models\.yaml: .*line 1/s);
  });

  it('refuses a literal key, without repeating it', () => {
    const key = 'sk-live-4242424242424242';
    const named = problemOf(`targets:\n  a: { provider: p, dialect: chat, model: m, apiKeyEnv: ${key} }\n`);
    expect(named).toContain(
      'models.yaml: targets.a.apiKeyEnv: expected the name of an environment variable, not a key',
    );
    const field = problemOf(`targets:\n  a: { provider: p, dialect: chat, model: m, apiKey: ${key} }\n`);
    expect(field).toContain('apiKey');
    expect(named + field).not.toContain(key);
  });

  it('refuses a base URL that is none, and unknown fields', () => {
    const base = 'targets:\n  a: { provider: p, dialect: chat, model: m, ';
    expect(problemOf(`${base}baseUrl: "ftp://example.org" }\n`)).toContain('targets.a.baseUrl');
    expect(problemOf(`${base}retries: 3 }\n`)).toContain('retries');
  });

  it('reads a script and names a journal beside the models file', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'jetloop-models-'));
    const models = join(folder, 'models.yaml');
    const target =
      'targets:\n  s: { provider: p, dialect: scripted, model: m, script: rules.yaml, journal: asked.jsonl }\n';
    await writeFile(join(folder, 'rules.yaml'), '- match: { step: 1 }\n  reply: { text: hello }\n');
    const read = parseCatalogue(target, models).get('s');
    expect(read?.script).toMatchObject([{ match: { step: 1 }, reply: { text: 'hello' }, delayMs: 0 }]);
    expect(read?.journal).toBe(join(folder, 'asked.jsonl'));
    await rm(folder, { recursive: true });
    expect(() => parseCatalogue(target, models)).toThrow(/s: expected a file with the rules of the script: .*ENOENT/);
  });

  it('reads the examples, those of the documentation too', () => {
    const root = join(import.meta.dirname, '../../../..');
    const example = parseCatalogue(readFileSync(join(root, 'examples/models.yaml'), 'utf8'), 'models.yaml');
    expect([...example.keys()]).toEqual(expect.arrayContaining(['default', 'claude', 'gemini', 'local', 'scripted']));
    const text = readFileSync(join(root, 'docs/providers.md'), 'utf8');
    const shown = [...text.matchAll(/^```yaml\n(targets:.*?)^```/gms)].map(([, yaml = '']) => yaml);
    expect(shown).toHaveLength(3);
    // The script of the third lies in the block behind it.
    const [rules = ''] = /^- match:.*?(?=^```)/ms.exec(text) ?? [];
    const inline = shown.map((yaml) => yaml.replace(/script: rules\.yaml.*/, `script: [${itemsOf(rules)}]`));
    for (const yaml of inline) expect(parseCatalogue(yaml, 'providers.md').size).toBeGreaterThan(0);
  });

  it('refuses a rule that answers and fails at once, or does neither', () => {
    const rule = (text: string) =>
      problemOf(`targets:\n  s: { provider: p, dialect: scripted, model: m, script: [${text}] }\n`);
    const expected = 'models.yaml: targets.s.script.0: expected either a reply or an error';
    expect(rule('{ reply: {}, error: { code: auth } }')).toBe(expected);
    expect(rule('{ match: {} }')).toBe(expected);
  });
});

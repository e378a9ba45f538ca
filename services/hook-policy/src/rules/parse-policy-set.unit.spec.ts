import { describe, expect, it } from '@jest/globals';
import { parsePolicySet, PolicySetError, readPolicySet } from './parse-policy-set.js';

const set = (rule: string): string => `name: s\npolicies:\n  - ${rule.trim().replace(/\n/g, '\n    ')}\n`;
const errorOf = (text: string): string => {
  try {
    parsePolicySet(text, 'x.yaml');
  } catch (error) {
    if (error instanceof PolicySetError) return error.message;
    throw error;
  }
  return 'no error';
};

describe('a policy set', () => {
  it('reads the same from YAML and JSON, and parses to itself again', () => {
    const yaml = set('name: p\nseam: pre-tool\nwhen: { tool: bash }\ndecide: { ask: Sure? }');
    const parsed = parsePolicySet(yaml, 'x.yaml');
    expect(parsed).toEqual({
      name: 's',
      tenants: ['*'],
      agents: ['*'],
      policies: [
        {
          name: 'p',
          order: 0,
          mode: 'enforce',
          seams: ['pre-tool'],
          when: { tool: ['bash'] },
          decide: { ask: { question: 'Sure?' } },
        },
      ],
    });
    const stored: unknown = JSON.parse(JSON.stringify(parsed));
    expect(readPolicySet(stored, 's')).toEqual(parsed);
    expect(parsePolicySet(JSON.stringify(stored), 'x.json')).toEqual(parsed);
  });

  const deny = 'decide: { deny: no }';
  it.each([
    ['no YAML', 'name: [', /^x\.yaml:\d+: /],
    ['two documents of one key', 'name: a\nname: b\npolicies: []', /^x\.yaml:2: .*unique/],
    ['a list', '[]', 'x.yaml:1: (top): Invalid input: expected object, received array'],
    ['nothing', '', /\(top\): Invalid input: expected object/],
    ['no policies', 'name: s\npolicies: []', 'x.yaml:2: policies: expected at least one policy'],
    ['a bad name', 'name: a b\npolicies: []', /name: expected 1 to 64 characters/],
    [
      'an unknown key',
      set(`name: p\nseam: pre-tool\nwhne: {}\n${deny}`),
      /x\.yaml:3: policies\[0\]: Unrecognized key: "whne"/,
    ],
    [
      'an unknown seam',
      set(`name: p\nseam: pre-tol\n${deny}`),
      /x\.yaml:4: policies\[0\]\.seam: Invalid option: expected one of/,
    ],
    [
      'seam and seams',
      set(`name: p\nseam: pre-tool\nseams: [pre-tool]\n${deny}`),
      /expected either seam \(one\) or seams/,
    ],
    ['no seam', set(`name: p\n${deny}`), /expected either seam \(one\) or seams/],
    [
      'a wrong type',
      set(`name: p\norder: first\nseam: pre-tool\n${deny}`),
      'x.yaml:4: policies[0].order: Invalid input: expected number, received string',
    ],
    [
      'a bad regex',
      set(`name: p\nseam: pre-tool\nwhen: { argument: { path: a, regex: '(' } }\n${deny}`),
      /x\.yaml:5: policies\[0\]\.when\.argument\[0\]\.regex: expected a regular expression/,
    ],
    [
      'bad flags',
      set(`name: p\nseam: pre-tool\nwhen: { argument: { path: a, regex: /a/g } }\n${deny}`),
      /the flags "g": expected none or some of i, m and s/,
    ],
    [
      'a bad tool regex',
      set(`name: p\nseam: pre-tool\nwhen: { tool: '/(/' }\n${deny}`),
      /when\.tool\[0\]: expected a regular expression/,
    ],
    [
      'an open tool regex',
      set(`name: p\nseam: pre-tool\nwhen: { tool: '/a' }\n${deny}`),
      /the closing "\/" is missing/,
    ],
    [
      'a bad path',
      set(`name: p\nseam: pre-tool\nwhen: { argument: { path: 'a[', equals: 1 } }\n${deny}`),
      /argument\[0\]\.path: expected a path/,
    ],
    [
      'no operator',
      set(`name: p\nseam: pre-tool\nwhen: { argument: { path: a } }\n${deny}`),
      /argument\[0\]: expected one of equals, in, glob/,
    ],
    [
      'both lists',
      set(`name: p\nseam: pre-tool\nwhen: { command: { runs: [a], runs-other-than: [b] } }\n${deny}`),
      /when\.command: expected either runs/,
    ],
    [
      'an empty comparison',
      set(`name: p\nseam: pre-tool\nwhen: { calls-before: {} }\n${deny}`),
      /expected gt, lt or both/,
    ],
    [
      'an empty reason',
      set('name: p\nseam: pre-tool\ndecide: { deny: "" }'),
      /decide\.deny: expected a text, got an empty one/,
    ],
    ['no decision', set('name: p\nseam: pre-tool\ndecide: {}'), /decide: expected one of deny, block/],
    [
      'two decisions',
      set('name: p\nseam: pre-tool\ndecide: { deny: a, ask: b }'),
      /decide: expected one decision, got deny and ask/,
    ],
    [
      'a decision of another seam',
      set('name: p\nseam: pre-tool\ndecide: { block: a }'),
      /decide\.block: expected the seam prompt-submit, post-tool, pre-compact: pre-tool has no "block"/,
    ],
    [
      'a condition of another seam',
      set(`name: p\nseam: pre-tool\nwhen: { prompt: { contains: a } }\n${deny}`),
      /when\.prompt: expected the seam prompt-submit/,
    ],
    [
      'context nobody hears',
      set('name: p\nseam: pre-tool\ndecide: { deny: a, context: b }'),
      /decide\.context: expected no context beside deny/,
    ],
    [
      'a bad duration',
      set('name: p\nseam: pre-tool\ndecide: { ask: { question: a, expires-in: soon } }'),
      /expires-in: expected a duration/,
    ],
    [
      'a name twice',
      `${set(`name: p\nseam: pre-tool\n${deny}`)}  - { name: p, seam: pre-tool, ${deny} }\n`,
      /policies\[1\]\.name: expected a name of its own: "p" is taken/,
    ],
  ])('is refused for %s, with file, line, path and what was expected', (_name, text, expected) => {
    if (typeof expected === 'string') expect(errorOf(text)).toContain(expected);
    else expect(errorOf(text)).toMatch(expected);
  });

  const form = (text: string): string => set(`name: p\n${text}`);
  it('takes the four forms beside rules, short and long, and parses to itself again', () => {
    const text = `name: s
policies:
  - { name: a, seam: pre-tool, plugin: mine }
  - { name: b, seam: pre-step, plugin: { name: mine, options: { most: 3 } }, timeout: 500ms }
  - { name: c, seams: [pre-tool, post-tool], command: ./check.sh, matcher: bash|write_file, timeout: 10s }
  - { name: d, seam: turn-continuation, command: { run: ./check.sh, env: { TOKEN: 'env:CHECK_TOKEN' } } }
  - { name: e, seam: pre-step, webhook: { url: 'https://hooks.example/a', secret: 'file:/run/secret' }, messages: false }
  - { name: f, seam: prompt-submit, when: { prompt: { contains: x } }, responder: mine }
`;
    const parsed = parsePolicySet(text, 'x.yaml');
    expect(parsed.policies).toMatchObject([
      { plugin: { name: 'mine' } },
      { plugin: { name: 'mine', options: { most: 3 } }, timeout: '500ms' },
      { command: { run: './check.sh', env: {} }, matcher: 'bash|write_file' },
      { command: { run: './check.sh', env: { TOKEN: 'env:CHECK_TOKEN' } } },
      { webhook: { url: 'https://hooks.example/a' }, messages: false },
      { responder: { name: 'mine' } },
    ]);
    expect(readPolicySet(JSON.parse(JSON.stringify(parsed)), 's')).toEqual(parsed);
  });

  it.each([
    ['no form', 'seam: pre-tool', 'expected one of decide, plugin, command, webhook, responder, got none'],
    ['two forms', 'seam: pre-tool\nplugin: a\nresponder: b', 'got plugin and responder'],
    [
      'a rule with a time limit',
      `seam: pre-tool\ntimeout: 5s\n${deny}`,
      'x.yaml:5: policies[0].timeout: expected a policy with plugin',
    ],
    [
      'a plugin with a matcher',
      'seam: pre-tool\nmatcher: bash\nplugin: a',
      'policies[0].matcher: expected a policy with command',
    ],
    [
      'a matcher with nothing to match',
      'seam: prompt-submit\nmatcher: a\ncommand: b',
      'matcher: expected the seam session-start',
    ],
    ['a broken matcher', "seam: pre-tool\nmatcher: '('\ncommand: b", 'matcher: expected nothing, "*", words'],
    ['messages elsewhere', 'seam: pre-tool\nmessages: false\ncommand: b', 'messages: expected the seam pre-step'],
    ['an empty command', "seam: pre-tool\ncommand: ''", 'command.run: expected a text, got an empty one'],
    ['a bad variable', 'seam: pre-tool\ncommand: { run: a, env: { A-B: c } }', 'command.env.A-B'],
    [
      'a webhook elsewhere',
      "seam: pre-tool\nwebhook: { url: 'ftp://a', secret: 'env:A' }",
      'webhook.url: expected an http or https address',
    ],
    ['a webhook without a secret', "seam: pre-tool\nwebhook: { url: 'https://a.example' }", 'webhook.secret'],
    [
      'a written secret',
      "seam: pre-tool\nwebhook: { url: 'https://a.example', secret: s3cret }",
      'webhook.secret: expected env:NAME or file:/path',
    ],
    ['a responder that is no token', 'seam: pre-tool\nresponder: a.b', 'responder.name: expected 1 to 64 characters'],
    ['a bad time limit', 'seam: pre-tool\nresponder: a\ntimeout: 5', 'timeout'],
    [
      'a condition of another seam',
      'seam: pre-tool\nresponder: a\nwhen: { prompt: { contains: x } }',
      'when.prompt: expected the seam',
    ],
  ])('is refused for %s', (_name, text, expected) => {
    expect(errorOf(form(text))).toContain(expected);
  });
});

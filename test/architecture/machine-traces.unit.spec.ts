import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { machineTraces } from './rules/machine-traces.js';
import { machineFacts } from './support/machine-facts.js';
import { trackedFiles } from './support/tracked-files.js';

const root = join(import.meta.dirname, '../..');
/** Put together here, so that this file itself holds none. */
const path = (...parts: string[]) => ['', ...parts].join('/');
const url = (host: string) => `https:/${path(host)}/a.tgz`;

/** Put together here, so that no file of the repository holds the name of a registry's host. */
const PUBLIC_REGISTRY = ['registry', 'npmjs', 'org'].join('.');

describe('traces of a machine', () => {
  it.each([
    ['README.md', `see ${path('home', 'ada', 'notes.md')}`],
    ['src/a.ts', `const a = '${path('Users', 'ada', 'a')}';`],
    ['src/a.ts', `// ${path('work', 'main')}`],
    ['README.md', `cat ${path('tmp', 'notes.md')}`],
    ['README.md', url('npm.corporation.net')],
    ['deploy/Dockerfile', `RUN npm i --registry ${url('artifactory.corporation.net')}`],
    ['.npmrc', 'registry=anything'],
    ['.npmrc', '//host/:_authToken=x'],
    ['package-lock.json', `"resolved": "${url('packages.corporation.net')}"`],
  ])('are found in %s: %s', (file, text) => {
    expect(machineTraces(file, text)).toHaveLength(1);
  });

  it.each([
    ['README.md', `${url(PUBLIC_REGISTRY)}/zod and https://mirror.registry.example/x`],
    ['src/a.ts', `const socket = '${path('tmp', 'x')}'; // an example`],
    ['src/a.ts', "import './home/a.js'; import '../work/main.js';"],
    ['.npmrc', 'fund=false'],
    ['package-lock.json', `"resolved": "${url(PUBLIC_REGISTRY)}/zod/-/zod-4.6.7.tgz" "resolved": "libs/client"`],
  ])('are not in %s: %s', (file, text) => {
    expect(machineTraces(file, text)).toEqual([]);
  });

  it('are what this machine is known by', () => {
    const env = { npm_config_registry: url('packages.corporation.net') };
    const facts = machineFacts('/srv/builds/project', env);
    const text = 'built in /srv/builds/project with packages.corporation.net';
    expect(machineTraces('a.md', text, facts)).toEqual([
      'a.md: holds the folder of this checkout',
      "a.md: holds this machine's registry",
    ]);
    expect(machineTraces('a.ts', "import '../srv/builds/project.js';", facts)).toEqual([]);
  });

  it('are in no file of the repository', async () => {
    const facts = machineFacts(root, process.env);
    const files = await trackedFiles(root);
    expect(files).toContain('package-lock.json');
    const texts = await Promise.all(
      // A file that was deleted and is still in the index holds nothing.
      files.map((file) => readFile(join(root, file), 'utf8').catch(() => '')),
    );
    expect(texts.flatMap((text, index) => machineTraces(files[index] ?? '', text, facts))).toEqual([]);
  });
});

import { describe, expect, it } from '@jest/globals';
import { bypasses, denied, harmless } from './bypasses.fixture.spec.js';
import { findListed, findUnlisted } from './command-list.js';

describe('a command denylist', () => {
  it.each(bypasses)('H7 finds the denied command: %s: %j', (_kind, line) => {
    expect(findListed(line, denied)).toBeDefined();
  });

  it.each(harmless)('lets pass what only looks like it: %j', (line) => {
    expect(findListed(line, denied)).toBeUndefined();
  });

  it('says what it found', () => {
    expect(findListed('sudo rm x', denied)).toBe('runs rm');
    expect(findListed('$x y', denied)).toBe('cannot be analysed: the name of a command is made by an expansion');
  });

  it('knows options and globs in its entries', () => {
    expect(findListed('git push -f', ['git push --force', 'git push -f'])).toBeDefined();
    expect(findListed('git push', ['git push --force'])).toBeUndefined();
    expect(findListed('git push --force=x', ['git push --force'])).toBeDefined();
    expect(findListed('rm -f -r x', ['rm -rf'])).toBeDefined();
    expect(findListed('rm -f x', ['rm -rf'])).toBeUndefined();
    expect(findListed('mkfs.ext4 /dev/sda', ['mkfs*'])).toBeDefined();
    expect(findListed('docker image rm x', ['docker image rm'])).toBeDefined();
    expect(findListed('docker image ls', ['docker image rm'])).toBeUndefined();
  });
});

describe('a command allowlist', () => {
  const allowed = ['ls', 'cat', 'git status', 'npm test', 'env', '/opt/tools/*'];

  it.each([
    'ls -la',
    '/bin/ls x',
    'cat a | cat',
    'git status --short',
    'env A=1 ls',
    'npm test && ls',
    '/opt/tools/x',
    '',
    'ls "$FILE"',
  ])('lets pass %j', (line) => {
    expect(findUnlisted(line, allowed)).toBeUndefined();
  });

  it.each([
    'rm x',
    'LS',
    './ls',
    '/tmp/ls',
    'x/ls',
    'ls; rm x',
    'ls $(rm x)',
    'git push',
    'git -C x status',
    'git $x',
    'PATH=. ls',
    'PATH=.; ls',
    'LD_PRELOAD=x ls',
    "'A'=1 ls",
    'sudo ls',
    'ls\nrm x',
    'env -S "rm x"',
    '/opt/tools/../../bin/rm x',
    'ls() { cat x; }; echo',
    'cat <<EOF\n`rm x`\nEOF',
  ])('finds what is not on it: %j', (line) => {
    expect(findUnlisted(line, allowed)).toBeDefined();
  });
});

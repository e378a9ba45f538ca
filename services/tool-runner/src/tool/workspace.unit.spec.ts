import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { builtinTools } from '../builtin/index.js';
import { temporaryWorkspace, textOf, type TestWorkspace } from './context.fixture.spec.js';
import { Workspace } from './workspace.js';

let box: TestWorkspace;
beforeEach(async () => {
  box = await temporaryWorkspace();
  const { root, outside } = box;
  await mkdir(join(root, 'dir/deep'), { recursive: true });
  await writeFile(join(root, 'dir/file.txt'), 'inside');
  await writeFile(join(outside, 'secret.txt'), 'secret');
  await mkdir(`${root}-twin`);
  await writeFile(`${root}-twin/secret.txt`, 'secret');
  await Promise.all([
    symlink(join(outside, 'secret.txt'), join(root, 'to-file')),
    symlink(outside, join(root, 'to-dir')),
    symlink('../outside', join(root, 'to-dir-relative')),
    symlink('../../outside', join(root, 'dir/up')),
    symlink('..', join(root, 'to-parent')),
    symlink('/', join(root, 'to-slash')),
    symlink('/proc/self/root', join(root, 'to-proc')),
    symlink('to-dir', join(root, 'chain')),
    symlink('dir/../../outside', join(root, 'through')),
    symlink('loop-b', join(root, 'loop-a')),
    symlink('loop-a', join(root, 'loop-b')),
    symlink(join(outside, 'not-yet'), join(root, 'dangling')),
    symlink(`${root}-twin`, join(root, 'to-twin')),
    symlink('dir', join(root, 'good-link')),
    symlink(join(root, 'dir/file.txt'), join(root, 'good-absolute')),
    symlink('../dir', join(root, 'dir/good-up')),
  ]);
});
afterEach(() => box.remove());

const ESCAPES: ((at: { root: string; outside: string }) => string)[] = [
  () => '..',
  () => '../',
  () => '../outside/secret.txt',
  () => '../workspace-twin/secret.txt',
  () => 'dir/../../outside/secret.txt',
  () => 'dir/deep/../../../outside/secret.txt',
  () => './../outside/secret.txt',
  () => 'dir//..//..//outside/secret.txt',
  () => 'missing/../../outside/secret.txt',
  () => 'dir/file.txt\0/../../x',
  () => '\0',
  () => '/',
  () => '/etc/passwd',
  () => '//etc/passwd',
  () => '/proc/self/environ',
  () => '/dev/null',
  ({ outside }) => `${outside}/secret.txt`,
  ({ root }) => `${root}/../outside/secret.txt`,
  ({ root }) => `${root}-twin/secret.txt`,
  ({ root }) => `${root}/dir/../../outside/secret.txt`,
  () => 'to-file',
  () => 'to-dir/secret.txt',
  () => 'to-dir-relative/secret.txt',
  () => 'dir/up/secret.txt',
  () => 'to-parent/outside/secret.txt',
  () => 'to-slash/etc/passwd',
  () => 'to-proc/etc/passwd',
  () => 'chain/secret.txt',
  () => 'through/secret.txt',
  () => 'good-link/../../outside/secret.txt',
  () => 'loop-a',
  () => 'dangling',
  () => 'to-dir/new/file.txt',
  () => 'to-twin/secret.txt',
];

describe('the workspace', () => {
  it.each(ESCAPES.map((escape, index) => [escape({ root: '<root>', outside: '<outside>' }), index]))(
    'refuses %j in every tool that takes a path, without a word about the host',
    async (_name, index) => {
      const path = ESCAPES[Number(index)]!(box);
      const attempts = builtinTools.flatMap((tool) => argumentsFor(path)[tool.name]!.map((args) => ({ tool, args })));
      for (const { tool, args } of attempts) {
        // Where the last place is a link, these two mean the link itself, which lies inside.
        const isOwnLink = ['move', 'remove'].includes(tool.name) && ['to-file', 'loop-a', 'dangling'].includes(path);
        if (isOwnLink) continue;
        const result = await box.run(tool, args);
        expect({ tool: tool.name, isError: result.isError, code: result.error?.code }).toEqual({
          tool: tool.name,
          isError: true,
          code: expect.stringMatching(/^(outside_workspace|invalid_path)$/),
        });
        expect(textOf(result)).not.toContain(box.root);
        expect(textOf(result)).not.toContain(box.outside);
        expect(textOf(result)).not.toContain('secret\n');
      }
      expect(await readFile(join(box.outside, 'secret.txt'), 'utf8')).toBe('secret');
    },
  );

  it.each(['dir/file.txt', './dir//deep/../file.txt', 'good-link/file.txt', 'good-absolute', 'dir/good-up/file.txt'])(
    'opens %j, which stays inside',
    async (path) => {
      const { handle, size } = await box.workspace.openFile(path);
      expect(await handle.readFile('utf8')).toBe('inside');
      expect(size).toBe(6);
      await handle.close();
      expect(box.workspace.display(await box.workspace.resolve(path))).toBe('dir/file.txt');
    },
  );

  it('takes absolute paths inside, by the real name and by the name it was opened with', async () => {
    const alias = join(box.outside, 'alias');
    await symlink(box.root, alias);
    const workspace = await Workspace.open(alias);
    expect(await workspace.resolve(`${alias}/dir/file.txt`)).toBe(join(box.root, 'dir/file.txt'));
    expect(await workspace.resolve(`${box.root}/dir/file.txt`)).toBe(join(box.root, 'dir/file.txt'));
  });

  it('refuses a folder that was swapped for a link after the check', async () => {
    const { root, outside, workspace } = box;
    const resolve = workspace.resolve.bind(workspace);
    // The swap happens exactly between check and open.
    workspace.resolve = async (path, options) => {
      const real = await resolve(path, options);
      await rename(join(root, 'dir'), join(root, 'gone'));
      await symlink(outside, join(root, 'dir'));
      return real;
    };
    await expect(workspace.openFile('dir/../dir/secret.txt')).rejects.toMatchObject({ name: 'WorkspaceError' });
  });

  it('refuses a file that was swapped for a link after the check', async () => {
    const { root, outside, workspace } = box;
    const resolve = workspace.resolve.bind(workspace);
    workspace.resolve = async (path, options) => {
      const real = await resolve(path, options);
      await rename(join(root, 'dir/file.txt'), join(root, 'gone'));
      await symlink(join(outside, 'secret.txt'), join(root, 'dir/file.txt'));
      return real;
    };
    await expect(workspace.openFile('dir/../dir/file.txt')).rejects.toMatchObject({ code: 'outside_workspace' });
  });

  it('never opens what a folder leads to that turns into a link and back all the time', async () => {
    const { root, outside, workspace } = box;
    await writeFile(join(root, 'dir/secret.txt'), 'inside');
    const swap = { isOver: false };
    const swapping = (async () => {
      while (!swap.isOver) {
        await rename(join(root, 'dir'), join(root, 'aside'));
        await symlink(outside, join(root, 'dir'));
        await rm(join(root, 'dir'));
        await rename(join(root, 'aside'), join(root, 'dir'));
      }
    })();
    const seen = new Map<string, number>();
    for (let n = 0; n < 400; n++) {
      const text = await workspace.openFile('dir/secret.txt').then(
        async ({ handle }) => {
          const read = await handle.readFile('utf8');
          await handle.close();
          return read;
        },
        () => 'refused',
      );
      seen.set(text, (seen.get(text) ?? 0) + 1);
    }
    swap.isOver = true;
    await swapping;
    expect(seen.get('inside')).toBeGreaterThan(0);
    expect(seen.has('secret')).toBe(false);
  });

  it('names what is missing, and what is not a folder, by the path in the workspace', async () => {
    await expect(box.workspace.openFile('dir/none')).rejects.toMatchObject({
      code: 'not_found',
      message: expect.stringMatching(/^dir\/none: /),
    });
    await expect(box.workspace.openFile('dir/file.txt/x')).rejects.toMatchObject({ code: 'not_a_directory' });
    await expect(box.workspace.openFile('dir')).rejects.toMatchObject({ code: 'is_a_directory' });
    await expect(Workspace.open(join(box.root, 'none'))).rejects.toMatchObject({
      code: 'not_found',
      message: expect.not.stringContaining(box.root),
    });
  });
});

/** For each tool, the calls that use `path` in every place that takes one. */
function argumentsFor(path: string): Record<string, Record<string, unknown>[]> {
  const edit = { oldText: 'secret', newText: 'x' };
  return {
    read_file: [{ path }],
    write_file: [{ path, content: 'x' }],
    edit_file: [{ path, ...edit }],
    multi_edit: [{ path, edits: [edit] }],
    list_dir: [{ path }],
    glob: [{ path, pattern: '**' }],
    grep: [{ path, pattern: 'secret' }],
    move: [
      { from: path, to: 'dir/moved' },
      { from: 'dir/file.txt', to: path, overwrite: true },
    ],
    remove: [{ path, recursive: true }],
    bash: [{ workdir: path, command: 'cat secret.txt' }],
  };
}

import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { temporaryWorkspace, textOf, type TestWorkspace } from '../tool/context.fixture.spec.js';
import { OUTPUT_LIMIT } from '../tool/cut-output.js';
import { editFileTool } from './edit-file.tool.js';
import { builtinTools } from './index.js';
import { listDirTool } from './list-dir.tool.js';
import { moveTool } from './move.tool.js';
import { multiEditTool } from './multi-edit.tool.js';
import { readFileTool } from './read-file.tool.js';
import { removeTool } from './remove.tool.js';
import { writeFileTool } from './write-file.tool.js';

let box: TestWorkspace;
const at = (path: string) => join(box.root, path);
const text = (path: string) => readFile(at(path), 'utf8');
beforeEach(async () => {
  box = await temporaryWorkspace();
});
afterEach(() => box.remove());

describe('the built-in tools', () => {
  it('say which of them change nothing and which may run twice', () => {
    const names = (flag: 'readonly' | 'idempotent') =>
      builtinTools.filter((tool) => tool[flag]).map((tool) => tool.name);
    expect(names('readonly')).toEqual(['read_file', 'list_dir', 'glob', 'grep']);
    expect(names('idempotent')).toEqual(['read_file', 'write_file', 'list_dir', 'glob', 'grep']);
  });
});

describe('read_file', () => {
  it('gives a file exactly as it is', async () => {
    const content = '\ufeffüber 🙂\r\n\r\nlast, no newline';
    await writeFile(at('a.txt'), content);
    expect((await box.run(readFileTool, { path: 'a.txt' })).content).toEqual([{ type: 'text', text: content }]);
  });

  it('pages by lines and says how to go on', async () => {
    const lines = Array.from({ length: 5000 }, (_, i) => `${i + 1}\n`);
    await writeFile(at('a.txt'), lines.join(''));
    const first = await box.run(readFileTool, { path: 'a.txt' });
    expect(first.content).toEqual([
      { type: 'text', text: lines.slice(0, 2000).join('') },
      { type: 'text', text: '[lines 1 to 2000 of 5000; go on with offset 2001]' },
    ]);
    const last = await box.run(readFileTool, { path: 'a.txt', offset: 4999, limit: 10 });
    expect(textOf(last)).toBe('4999\n5000\n\n[lines 4999 to 5000 of 5000]');
    expect(textOf(await box.run(readFileTool, { path: 'a.txt', offset: 9000 }))).toContain(
      '[the file has only 5000 lines]',
    );
  });

  it('pages through a million lines without losing one, each page within the limit', async () => {
    const lines = Array.from({ length: 1_000_000 }, (_, i) => `line ${i + 1}`);
    await writeFile(at('a.txt'), `${lines.join('\n')}\n`);
    let offset = 1;
    for (let page = 0; page < 3; page += 1) {
      const [body, note] = (await box.run(readFileTool, { path: 'a.txt', offset, limit: 10_000 })).content;
      if (body?.type !== 'text' || note?.type !== 'text') throw new Error('expected text');
      expect(Buffer.byteLength(body.text) + note.text.length).toBeLessThanOrEqual(OUTPUT_LIMIT);
      const next = Number(/go on with offset (\d+)\]$/.exec(note.text)?.[1]);
      expect(body.text).toBe(lines.slice(offset - 1, next - 1).map((line) => `${line}\n`).join('')); // prettier-ignore
      offset = next;
    }
    expect(offset).toBeGreaterThan(10_000);
  });

  it('cuts a line that is too long between two characters', async () => {
    await writeFile(at('a.txt'), `x${'🙂'.repeat(100_000)}\nnext\n`);
    const shown = textOf(await box.run(readFileTool, { path: 'a.txt' }));
    expect(shown).toMatch(
      /^x🙂+\[\.\.\. line of 400002 bytes cut \.\.\.\]\nnext\n\n\[lines 1 to 2 of 2; 1 lines longer than 16384 bytes are cut\]$/u,
    );
    expect(shown).not.toContain('\ufffd');
  });

  it('describes a binary file, and says so when a file is empty', async () => {
    await writeFile(at('a.png'), Buffer.from('89504e470d0a1a0a0000', 'hex'));
    expect(textOf(await box.run(readFileTool, { path: 'a.png' }))).toBe(
      '[binary data, PNG image, 10 bytes, not shown]',
    );
    await writeFile(at('empty'), '');
    expect(textOf(await box.run(readFileTool, { path: 'empty' }))).toContain('[the file is empty]');
  });

  it('refuses what is not a file, a pipe without waiting for its writer', async () => {
    await mkdir(at('dir'));
    execFileSync('mkfifo', [at('pipe')]);
    expect((await box.run(readFileTool, { path: 'dir' })).error?.code).toBe('is_a_directory');
    expect((await box.run(readFileTool, { path: 'none' })).error?.code).toBe('not_found');
    expect(await box.run(readFileTool, { path: 'pipe' }, { timeoutMs: 5000 })).toMatchObject({
      error: { code: 'not_a_file' },
    });
  });
});

describe('write_file', () => {
  it('makes missing folders, replaces, keeps the mode and leaves nothing beside', async () => {
    expect(textOf(await box.run(writeFileTool, { path: 'a/b/c.sh', content: 'one' }))).toBe(
      'Created a/b/c.sh (3 bytes).',
    );
    await chmod(at('a/b/c.sh'), 0o750);
    expect(textOf(await box.run(writeFileTool, { path: 'a/b/c.sh', content: 'zwö' }))).toBe(
      'Replaced a/b/c.sh (4 bytes).',
    );
    expect(await text('a/b/c.sh')).toBe('zwö');
    expect((await stat(at('a/b/c.sh'))).mode & 0o777).toBe(0o750);
    expect(await readdir(at('a/b'))).toEqual(['c.sh']);
  });

  it('writes through a link that stays inside', async () => {
    await writeFile(at('real.txt'), 'old');
    await symlink('real.txt', at('link'));
    await box.run(writeFileTool, { path: 'link', content: 'new' });
    expect(await text('real.txt')).toBe('new');
    expect((await lstat(at('link'))).isSymbolicLink()).toBe(true);
  });

  it('refuses a folder, a file as a folder, and a name that is too long', async () => {
    await mkdir(at('dir'));
    await writeFile(at('file'), '');
    const code = async (path: string) => (await box.run(writeFileTool, { path, content: 'x' })).error?.code;
    expect(await code('dir')).toBe('is_a_directory');
    expect(await code('.')).toBe('is_a_directory');
    expect(await code('file/x')).toBe('not_a_directory');
    expect(await code('n'.repeat(300))).toBe('invalid_path');
    expect(await readdir(box.root)).toEqual(['dir', 'file']);
  });
});

describe('edit_file', () => {
  beforeEach(() => writeFile(at('a.txt'), 'one two two three'));

  it('replaces one match, taking dollar signs as they are', async () => {
    const result = await box.run(editFileTool, { path: 'a.txt', oldText: 'three', newText: "$& $1 $'" });
    expect(textOf(result)).toBe('Replaced 1 match in a.txt.');
    expect(await text('a.txt')).toBe("one two two $& $1 $'");
  });

  it('tells the number of matches when it is not one, and changes nothing', async () => {
    const two = await box.run(editFileTool, { path: 'a.txt', oldText: 'two', newText: 'x' });
    expect(two).toMatchObject({ isError: true, error: { code: 'many_matches' } });
    expect(textOf(two)).toContain('found 2 times');
    const none = await box.run(editFileTool, { path: 'a.txt', oldText: 'Two', newText: 'x' });
    expect(textOf(none)).toContain('found 0 times');
    expect(await text('a.txt')).toBe('one two two three');
  });

  it('replaces all matches when asked to', async () => {
    const result = await box.run(editFileTool, { path: 'a.txt', oldText: 'two', newText: 'twotwo', replaceAll: true });
    expect(textOf(result)).toBe('Replaced 2 matches in a.txt.');
    expect(await text('a.txt')).toBe('one twotwo twotwo three');
  });

  it('loses no edit when many are made at once', async () => {
    const words = Array.from({ length: 10 }, (_, i) => `<${i}>`);
    await writeFile(at('a.txt'), words.join(''));
    await Promise.all(words.map((word) => box.run(editFileTool, { path: 'a.txt', oldText: word, newText: 'x' })));
    expect(await text('a.txt')).toBe('x'.repeat(10));
  });

  it('refuses a file that is not UTF-8, an edit without change, and tells of other line ends', async () => {
    await writeFile(at('latin'), Buffer.from('schön', 'latin1'));
    expect((await box.run(editFileTool, { path: 'latin', oldText: 'sch', newText: 'x' })).error?.code).toBe('not_text');
    expect((await box.run(editFileTool, { path: 'a.txt', oldText: 'one', newText: 'one' })).error?.code).toBe(
      'no_change',
    );
    await writeFile(at('crlf'), 'a\r\nb\r\n');
    expect(textOf(await box.run(editFileTool, { path: 'crlf', oldText: 'a\nb', newText: 'x' }))).toContain(
      'end with \\r\\n',
    );
  });
});

describe('multi_edit', () => {
  beforeEach(() => writeFile(at('a.txt'), 'one two three'));

  it('makes the edits in order, each on the result of the one before', async () => {
    const edits = [
      { oldText: 'one', newText: 'two' },
      { oldText: 'two', newText: '2', replaceAll: true },
    ];
    expect(textOf(await box.run(multiEditTool, { path: 'a.txt', edits }))).toBe('Made 2 edits in a.txt.');
    expect(await text('a.txt')).toBe('2 2 three');
  });

  it('makes none when one does not fit, and says which', async () => {
    const edits = [
      { oldText: 'one', newText: '1' },
      { oldText: 'four', newText: '4' },
    ];
    const result = await box.run(multiEditTool, { path: 'a.txt', edits });
    expect(result.error?.code).toBe('no_match');
    expect(textOf(result)).toMatch(/edits\.1: oldText was found 0 times.*No edit was made/);
    expect(await text('a.txt')).toBe('one two three');
  });
});

describe('list_dir', () => {
  it('shows folders, links and sizes in order', async () => {
    await mkdir(at('b'));
    await writeFile(at('a.txt'), '12345');
    await symlink('/etc', at('c'));
    expect(textOf(await box.run(listDirTool, {}))).toBe('a.txt  5\nb/\nc@');
    expect(textOf(await box.run(listDirTool, { path: 'b' }))).toBe('[the folder is empty]');
    expect((await box.run(listDirTool, { path: 'a.txt' })).error?.code).toBe('not_a_directory');
  });

  it('pages a long list', async () => {
    await Promise.all(Array.from({ length: 12 }, (_, i) => writeFile(at(`f${String(i).padStart(2, '0')}`), '')));
    expect(textOf(await box.run(listDirTool, { offset: 2, limit: 3 }))).toBe(
      'f02  0\nf03  0\nf04  0\n[7 more entries; go on with offset 5]',
    );
  });
});

describe('move', () => {
  it('moves files and folders, making missing folders', async () => {
    await writeFile(at('a.txt'), 'a');
    expect(textOf(await box.run(moveTool, { from: 'a.txt', to: 'x/y/b.txt' }))).toBe('Moved a.txt to x/y/b.txt.');
    await box.run(moveTool, { from: 'x/y', to: 'z' });
    expect(await text('z/b.txt')).toBe('a');
  });

  it('moves a link itself', async () => {
    await symlink('/etc/hostname', at('link'));
    await box.run(moveTool, { from: 'link', to: 'moved' });
    expect((await lstat(at('moved'))).isSymbolicLink()).toBe(true);
  });

  it('refuses what exists, what is missing, and a folder into itself', async () => {
    await mkdir(at('dir'));
    await Promise.all([writeFile(at('a'), 'a'), writeFile(at('b'), 'b')]);
    const code = async (args: Record<string, unknown>) => (await box.run(moveTool, args)).error?.code;
    expect(await code({ from: 'a', to: 'b' })).toBe('exists');
    expect(await code({ from: 'a', to: 'dir', overwrite: true })).toBe('exists');
    expect(await code({ from: 'a', to: 'a' })).toBe('exists');
    expect(await code({ from: 'none', to: 'new/c' })).toBe('not_found');
    expect(await code({ from: 'dir', to: 'dir/in' })).toBe('invalid_path');
    expect(await code({ from: '.', to: 'c' })).toBe('invalid_path');
    expect(await readdir(box.root)).toEqual(['a', 'b', 'dir']);
    expect(await code({ from: 'a', to: 'b', overwrite: true })).toBeUndefined();
    expect(await text('b')).toBe('a');
  });
});

describe('remove', () => {
  it('removes files and empty folders, and whole folders only when asked to', async () => {
    await mkdir(at('dir/deep'), { recursive: true });
    await writeFile(at('dir/deep/a'), 'a');
    const refused = await box.run(removeTool, { path: 'dir' });
    expect(refused.error?.code).toBe('not_empty');
    expect(textOf(refused)).toContain('set recursive');
    expect(textOf(await box.run(removeTool, { path: 'dir', recursive: true }))).toBe('Removed dir (3 entries).');
    await writeFile(at('a'), 'a');
    await box.run(removeTool, { path: 'a' });
    expect(await readdir(box.root)).toEqual([]);
  });

  it('removes links, never what they point to', async () => {
    await mkdir(at('dir'));
    await writeFile(join(box.outside, 'keep'), 'keep');
    await symlink(box.outside, at('dir/link'));
    await symlink(join(box.outside, 'keep'), at('link'));
    await box.run(removeTool, { path: 'link' });
    await box.run(removeTool, { path: 'dir', recursive: true });
    expect(await readdir(box.root)).toEqual([]);
    expect(await readFile(join(box.outside, 'keep'), 'utf8')).toBe('keep');
  });

  it('refuses the workspace itself and what is missing', async () => {
    expect((await box.run(removeTool, { path: '.', recursive: true })).error?.code).toBe('is_a_directory');
    expect((await box.run(removeTool, { path: 'none' })).error?.code).toBe('not_found');
  });
});

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files that git holds, or would hold with the next `git add`: what it ignores is nobody's business. */
export async function trackedFiles(root: string): Promise<string[]> {
  const list = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const { stdout } = await run('git', list, { cwd: root, maxBuffer: 16 * 1024 * 1024 });
  return [...new Set(stdout.split('\0').filter((path) => path !== ''))];
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** Whether bubblewrap is installed and may make namespaces, by the machine's own word and not by the code under test. */
export function canSandbox(): Promise<boolean> {
  const words = ['--ro-bind', '/', '/', '--unshare-all', '--dev', '/dev', '--proc', '/proc', 'true'];
  return promisify(execFile)('bwrap', words).then(
    () => true,
    () => false,
  );
}

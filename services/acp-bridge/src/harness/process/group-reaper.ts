import { spawn, type ChildProcess } from 'node:child_process';

/**
 * Its standard input is a pipe that only the bridge holds: when the bridge dies, even by SIGKILL, the pipe closes and the
 * script ends every group that is still on its list.
 */
const SCRIPT = `
groups=' '
while read -r word group; do
  case $word$groups in
    watch*) groups="$groups$group " ;;
    # One that is not on the list: both parts would be the whole list.
    forget*" $group "*) groups=\${groups%% $group *}' '\${groups#* $group } ;;
  esac
done
for group in $groups; do kill -s TERM -- "-$group" 2>/dev/null; done
sleep 1
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
`;

/** One small shell a bridge, in a session of its own, that ends the agents of a bridge that died. */
export class GroupReaper {
  private shell: ChildProcess | undefined;

  watch(group: number): void {
    this.tell(`watch ${group}`);
  }

  forget(group: number): void {
    this.tell(`forget ${group}`);
  }

  /** Ends the shell, with every group that it still watches. */
  close(): void {
    this.shell?.stdin?.end();
    this.shell = undefined;
  }

  private tell(line: string): void {
    this.shell ??= this.start();
    this.shell.stdin?.write(`${line}\n`);
  }

  private start(): ChildProcess {
    const shell = spawn('/bin/sh', ['-c', SCRIPT], { detached: true, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
    // A shell that could not start, or was ended from outside, must not end the bridge: it is a safety net only.
    shell.on('error', () => undefined);
    shell.stdin.on('error', () => undefined);
    shell.unref();
    return shell;
  }
}

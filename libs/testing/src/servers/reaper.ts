import { spawn } from 'node:child_process';
import { once } from 'node:events';

/**
 * Its standard input is a pipe that only the owner holds. When the owner dies, even by SIGKILL, the pipe closes and the
 * script ends the servers and removes their temporary folder. SIGINT is the fast, clean stop of both servers.
 */
const SCRIPT = `
pids= folder=
while IFS= read -r line; do
  case $line in
    'pid '*) pids="$pids \${line#pid }" ;;
    'folder '*) folder=\${line#folder } ;;
    dismiss) exit 0 ;;
  esac
done
[ -z "$pids" ] || kill -INT $pids
for _ in 1 2 3 4 5; do
  kill -0 $pids || break
  sleep 1
done
[ -z "$pids" ] || kill -KILL $pids
[ -z "$folder" ] || rm -rf -- "$folder"
`;

/** Ends servers whose owner died without stopping them. */
export interface Reaper {
  /** Takes over a server, by process id. */
  watch(pid: number): void;
  /** Takes over a temporary folder. */
  removeLater(folder: string): void;
  /** The owner has stopped everything itself. */
  dismiss(): Promise<void>;
}

/** Starts the reaper, a small shell in a session of its own. */
export async function startReaper(): Promise<Reaper> {
  const child = spawn('/bin/sh', ['-c', SCRIPT], { detached: true, cwd: '/', stdio: ['pipe', 'ignore', 'ignore'] });
  const exited = once(child, 'exit');
  exited.catch(() => undefined); // a failed spawn is reported by the next line
  await once(child, 'spawn');
  // A reaper that was ended from outside must not end its owner through a broken pipe: it is a safety net only.
  child.stdin.on('error', () => undefined);
  child.unref();
  const tell = (line: string) => void child.stdin.write(`${line}\n`);
  return {
    watch: (pid) => {
      tell(`pid ${pid}`);
    },
    removeLater: (folder) => {
      tell(`folder ${folder}`);
    },
    dismiss: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.ref();
      tell('dismiss');
      await exited;
    },
  };
}

import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const PROGRAM = join(import.meta.dirname, '../../bin/jetloop.js');

export interface Ended {
  readonly exitCode: unknown;
  readonly out: string;
  readonly err: string;
}

/** The built command in processes of its own, in a folder and with a data home of its own. */
export class JetloopProcess {
  private constructor(
    private readonly base: string,
    /** The current folder of the command, which agents work in. */
    readonly folder: string,
    readonly dataHome: string,
    private readonly more: NodeJS.ProcessEnv,
  ) {}

  /**
   * @param files texts by their names in the folder
   * @param more variables beside the usual ones
   */
  static async create(files: Readonly<Record<string, string>>, more: NodeJS.ProcessEnv = {}): Promise<JetloopProcess> {
    const base = await mkdtemp(join(tmpdir(), 'jetloop-cli-'));
    await chmod(base, 0o755);
    const jetloop = new JetloopProcess(base, join(base, 'work'), join(base, 'data'), more);
    await mkdir(jetloop.folder);
    await Promise.all(Object.entries(files).map(([name, text]) => writeFile(join(jetloop.folder, name), text)));
    return jetloop;
  }

  /** Runs a command to its end. */
  run(...args: string[]): Promise<Ended> {
    return new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, ...args], this.options(), (error, out, err) => {
        resolve({ exitCode: error?.code ?? 0, out, err });
      });
    });
  }

  /** Starts a command that stays. */
  start(...args: string[]): StayingProcess {
    return new StayingProcess(spawn(process.execPath, [PROGRAM, ...args], this.options()));
  }

  remove(): Promise<void> {
    return rm(this.base, { recursive: true, force: true });
  }

  /** The environment of each of its processes. */
  get env(): NodeJS.ProcessEnv {
    const { PATH, HOME } = process.env;
    return { PATH, HOME, LANG: 'C.UTF-8', XDG_DATA_HOME: this.dataHome, ...this.more };
  }

  private options() {
    return { cwd: this.folder, env: this.env };
  }
}

/** A command that runs until it is told to end. */
export class StayingProcess {
  private out = '';
  private err = '';
  private readonly ended: Promise<unknown>;

  constructor(private readonly child: ReturnType<typeof spawn>) {
    child.stdout?.on('data', (chunk: Buffer) => (this.out += chunk.toString()));
    child.stderr?.on('data', (chunk: Buffer) => (this.err += chunk.toString()));
    this.ended = once(child, 'close');
  }

  /** Waits until standard output matches. */
  async until(pattern: RegExp): Promise<RegExpExecArray> {
    const found = pattern.exec(this.out);
    if (found) return found;
    const { stdout } = this.child;
    if (!stdout || this.child.exitCode !== null) throw new Error(`ended before ${String(pattern)}: ${this.err}`);
    await Promise.race([once(stdout, 'data'), this.ended]);
    return this.until(pattern);
  }

  async end(signal: NodeJS.Signals = 'SIGINT'): Promise<Ended> {
    this.child.kill(signal);
    return this.wait();
  }

  /** Waits for its own end. */
  async wait(): Promise<Ended> {
    await this.ended;
    return { exitCode: this.child.exitCode, out: this.out, err: this.err };
  }
}

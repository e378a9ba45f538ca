import { InvalidArgumentError, type Command } from 'commander';
import type { ExitCode } from '../exit-code.js';

/** Takes a command's exit code. */
export type Finish = (code: ExitCode) => void;

/** Reads a number of the command line. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const isNumber = /^(?:0|[1-9]\d{0,8})$/.test(text) && Number(text) >= least;
    if (!isNumber) throw new InvalidArgumentError(`expected a whole number of at least ${least}`);
    return Number(text);
  };
}

/** The options of commands that talk to running services. */
export function remote(command: Command): Command {
  return command
    .option('--tenant <id>', 'whose it is', 'local')
    .option('--nats <url>', 'where the services run (default: NATS_URL, or `jetloop up` in this folder)')
    .option('--json', 'JSON');
}

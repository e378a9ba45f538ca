import { Command, CommanderError } from 'commander';
import type { AcpOptions } from './command/acp.command.js';
import type { DoctorOptions } from './command/doctor.command.js';
import type { RunCommandOptions } from './command/run.command.js';
import type { ShowOptions } from './command/show.command.js';
import type { SqlOptions } from './command/sql.command.js';
import { addOperationCommands } from './program/operation-commands.js';
import { addSessionCommands } from './program/session-commands.js';
import { wholeNumber } from './program/options.js';
import { writeJson, type CommandIo } from './command-io.js';
import { EXIT, type ExitCode } from './exit-code.js';
import { styleOf } from './render/style.js';

const EXIT_CODES = `
Exit codes: 0 done (run, tail --until-idle: the turn completed), 1 the turn ended otherwise, 2 wrong input, 3 servers or something unforeseen.`;

/** Runs one command line. A command's own modules are loaded only when it runs: help answers at once. @returns the exit code; nothing is thrown */
export async function runProgram(args: readonly string[], io: CommandIo): Promise<ExitCode> {
  let exitCode: ExitCode = EXIT.completed;
  const program = createProgram(io, (code) => {
    exitCode = code;
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    // Help and version were asked for; commander has said what else is wrong.
    if (error instanceof CommanderError) return error.exitCode === 0 ? EXIT.completed : EXIT.usage;
    return await fail(error, args.includes('--json'), io);
  }
}

function createProgram(io: CommandIo, finish: (code: ExitCode) => void): Command {
  const program = new Command('jetloop')
    .description('LLM agents as event-sourced microservices: run them, look at what they did, audit it with SQL.')
    .version(VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        io.out.write(text);
      },
      writeErr: (text) => {
        io.err.write(text);
      },
    })
    .showHelpAfterError('(--help says more)')
    .addHelpText('after', EXIT_CODES);

  program
    .command('run')
    .description('let an agent work on a prompt, and show what it does')
    .argument('<prompt>', 'what the agent shall do; - reads it from standard input')
    .option(
      '--agent <file|name>',
      'agent spec: a YAML file, or the name of one that the services know (default: a coder)',
    )
    .option('--workspace <folder>', 'folder to work in: the current one or below (default: the current one)')
    .option('--tenant <id>', 'whose session it is', 'local')
    .option('--session <id>', 'go on with this session, or begin it under this id (default: a new one)')
    .option('--nats <url>', 'use services that run elsewhere (default: those of `jetloop up`, or all in this process)')
    .option('--policies <file...>', 'policy sets, YAML')
    .option('--models <file>', 'model targets, YAML (default: one from OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL)')
    .option('--output <file>', 'a JSON Schema: the answer is one JSON value that fits it, and the model gets no tools')
    .option('--json', 'one line of JSON an event, and one with the outcome')
    .action(async (prompt: string, options: RunCommandOptions) => {
      const { runCommand } = await import('./command/run.command.js');
      finish(await runCommand(prompt, options, io));
    });

  program
    .command('show')
    .description('the events of a session, one a line')
    .argument('<session>', 'its id')
    .option('--tenant <id>', 'whose session it is', 'local')
    .option('--nats <url>', 'where its journal is (default: NATS_URL, or the data of the current folder)')
    .option('--json', 'one line of JSON an event')
    .action(async (session: string, options: ShowOptions) => {
      const { showCommand } = await import('./command/show.command.js');
      finish(await showCommand(session, options, io));
    });

  program
    .command('sql')
    .description(
      'a read-only query of the audit tables: sessions, turns, messages, tool_calls, policy_decisions, model_attempts, events',
    )
    .argument('<query>', 'one SQL statement')
    .option('--max-rows <number>', 'rows that are read at most', wholeNumber(1), 1_000)
    .option('--json', 'one JSON object: columns, rows, truncated')
    .addHelpText('after', '\nThe database is the one of DATABASE_URL, or the data of the current folder.')
    .action(async (query: string, options: SqlOptions) => {
      const { sqlCommand } = await import('./command/sql.command.js');
      finish(await sqlCommand(query, options, io));
    });

  program
    .command('doctor')
    .description('what is reachable on this machine, and how to get what is missing')
    .option('--json', 'one JSON object')
    .action(async (options: DoctorOptions) => {
      const { doctorCommand } = await import('./command/doctor.command.js');
      finish(await doctorCommand(options, io));
    });

  program
    .command('demo')
    .description('an agent mends a small broken project on disk, under policies, and SQL shows what happened')
    .option('--json', 'JSON lines')
    .option('--processes', 'each service in a process of its own, started again when you kill it')
    .action(async ({ json = false, processes = false }: { json?: boolean; processes?: boolean }) => {
      const { runDemo } = await import('./demo/run-demo.js');
      finish((await runDemo({ json, processes, terminal: io.out })) === 0 ? EXIT.completed : EXIT.otherEnd);
    });

  program
    .command('acp')
    .description('serve sessions to an editor: the Agent Client Protocol on standard input and output')
    .requiredOption('--agent <file|name>', 'who works: the name of an agent that the services know, or a YAML file')
    .option('--tenant <id>', 'whose sessions they are', 'local')
    .option('--nats <url>', 'use services that run elsewhere (default: those of `jetloop up`, or all in this process)')
    .option('--policies <file...>', 'policy sets, YAML')
    .option('--models <file>', 'model targets, YAML (default: one from OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL)')
    .action(async (options: AcpOptions) => {
      const { acpCommand } = await import('./command/acp.command.js');
      finish(await acpCommand(options, VERSION, io));
    });

  addSessionCommands(program, io, finish);
  addOperationCommands(program, io, finish);
  return program;
}

/** Of the package, which all parts of the project share. */
const VERSION = '0.1.0';

async function fail(error: unknown, json: boolean, io: CommandIo): Promise<ExitCode> {
  const { failureOf } = await import('./failure.js');
  const failure = failureOf(error);
  if (json) writeJson(io, { error: failure });
  else io.err.write(`${styleOf(io.err).failed('jetloop:')} ${failure.message}\n`);
  return failure.exitCode;
}

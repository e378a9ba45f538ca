import { Option, type Command } from 'commander';
import type { ApprovalsListOptions, DecideOptions } from '../command/approvals.command.js';
import type { CancelOptions } from '../command/cancel.command.js';
import type { CloseOptions } from '../command/close.command.js';
import type { ForkOptions } from '../command/fork.command.js';
import type { SendOptions } from '../command/send.command.js';
import type { SessionsOptions } from '../command/sessions.command.js';
import type { TailOptions } from '../command/tail.command.js';
import type { RemoteOptions } from '../command/with-client.js';
import type { CommandIo } from '../command-io.js';
import { remote, wholeNumber, type Finish } from './options.js';

/** The commands that drive sessions of running services. */
export function addSessionCommands(program: Command, io: CommandIo, finish: Finish): void {
  remote(program.command('sessions'))
    .description('the sessions there are, the last active one first')
    .option('--limit <number>', 'sessions that are shown at most', wholeNumber(1), 50)
    .action(async (options: SessionsOptions) => {
      const { sessionsCommand } = await import('../command/sessions.command.js');
      finish(await sessionsCommand(options, io));
    });

  remote(program.command('send'))
    .description('hand a prompt to a session, and return once it is durably accepted')
    .argument('<session>', 'its id')
    .argument('<prompt>', 'the text; - reads it from standard input')
    .addOption(
      new Option('--when-busy <what>', 'while a turn runs (default: queue)').choices(['queue', 'reject', 'interrupt']),
    )
    .option('--steer', 'say it to the open turn, before its next step')
    .option('--inject', 'add it to the open turn as context that nobody said')
    .option('--message-id <id>', 'your id of the message: the same one is accepted once (default: a new one)')
    .option('--output <file>', 'a JSON Schema: the answer is one JSON value that fits it, and the model gets no tools')
    .option('--create', 'begin the session if there is none')
    .option(
      '--agent <file|name>',
      'agent of a new session: a YAML file, or a name the services know (default: a coder)',
    )
    .option('--workspace <folder>', 'folder of a new session, as the services see it (default: one of its own)')
    .action(async (session: string, prompt: string, options: SendOptions) => {
      const { sendCommand } = await import('../command/send.command.js');
      finish(await sendCommand(session, prompt, options, io));
    });

  remote(program.command('tail'))
    .description('the events of a session as they come, one a line, until ^C')
    .argument('<session>', 'its id')
    .option('--from <sequence>', 'the first event that is shown', wholeNumber(0), 0)
    .option('--until-idle', 'end when no turn is open and none is waiting; the exit code says how the last one ended')
    .action(async (session: string, options: TailOptions) => {
      const { tailCommand } = await import('../command/tail.command.js');
      finish(await tailCommand(session, options, io));
    });

  remote(program.command('cancel'))
    .description('end the open turn of a session, and discard what is queued')
    .argument('<session>', 'its id')
    .option('--reason <text>', 'why, for the log')
    .action(async (session: string, options: CancelOptions) => {
      const { cancelCommand } = await import('../command/cancel.command.js');
      finish(await cancelCommand(session, options, io));
    });

  remote(program.command('close'))
    .description('close a session for good')
    .argument('<session>', 'its id')
    .option('--reason <text>', 'why, for the log')
    .action(async (session: string, options: CloseOptions) => {
      const { closeCommand } = await import('../command/close.command.js');
      finish(await closeCommand(session, options, io));
    });

  remote(program.command('fork'))
    .description('begin a new session with the conversation of another one')
    .argument('<session>', 'id of the other one')
    .option(
      '--at <sequence>',
      'the last of its events that the new one knows (default: the last there is)',
      wholeNumber(0),
    )
    .option('--as <id>', 'id of the new session (default: a new one)')
    .action(async (session: string, options: ForkOptions) => {
      const { forkCommand } = await import('../command/fork.command.js');
      finish(await forkCommand(session, options, io));
    });

  remote(program.command('resume'))
    .description('take a session up again: policies of its start are asked')
    .argument('<session>', 'its id')
    .action(async (session: string, options: RemoteOptions) => {
      const { resumeCommand } = await import('../command/resume.command.js');
      finish(await resumeCommand(session, options, io));
    });
  addApprovals(program.command('approvals'), io, finish);
}

function addApprovals(approvals: Command, io: CommandIo, finish: Finish): void {
  approvals.description('tool calls that wait for a decision');
  remote(approvals.command('list'))
    .description('those of a session')
    .argument('<session>', 'its id')
    .option('--all', 'the decided ones too')
    .action(async (session: string, options: ApprovalsListOptions) => {
      const { approvalsListCommand } = await import('../command/approvals.command.js');
      finish(await approvalsListCommand(session, options, io));
    });
  for (const [verb, outcome, description] of [
    ['approve', 'approved', 'let the call run'],
    ['deny', 'rejected', 'do not let it run'],
  ] as const)
    remote(approvals.command(verb))
      .description(description)
      .argument('<session>', 'its id')
      .argument('<approval>', 'id of the approval')
      .option('--note <text>', 'why, for the log')
      .action(async (session: string, approval: string, options: DecideOptions) => {
        const { approvalsDecideCommand } = await import('../command/approvals.command.js');
        finish(await approvalsDecideCommand(session, approval, outcome, options, io));
      });
}

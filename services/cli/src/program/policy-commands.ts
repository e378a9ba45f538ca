import type { Command } from 'commander';
import type { RemoteOptions } from '../command/with-client.js';
import type { CommandIo } from '../command-io.js';
import type { Finish } from './options.js';

const NATS = ['--nats <url>', 'where the services run (default: NATS_URL, or `jetloop up` in this folder)'] as const;

/** The commands about policy sets. */
export function addPolicies(policies: Command, io: CommandIo, finish: Finish): void {
  policies.description('policy sets: what agents may do');
  const sub = (name: string) =>
    policies
      .command(name)
      .option(...NATS)
      .option('--json', 'JSON');
  sub('list')
    .description('those that count now')
    .action(async (options: Omit<RemoteOptions, 'tenant'>) => {
      const { policiesListCommand } = await import('../command/policies.command.js');
      finish(await policiesListCommand(options, io));
    });
  sub('put')
    .description('store sets, each under its name; they count at the next decision')
    .argument('<file...>', 'policy sets, YAML or JSON')
    .action(async (files: string[], options: Omit<RemoteOptions, 'tenant'>) => {
      const { policiesPutCommand } = await import('../command/policies.command.js');
      finish(await policiesPutCommand(files, options, io));
    });
  sub('remove')
    .description('take a set away, and with it all it did')
    .argument('<name>', 'of the set')
    .action(async (name: string, options: Omit<RemoteOptions, 'tenant'>) => {
      const { policiesRemoveCommand } = await import('../command/policies.command.js');
      finish(await policiesRemoveCommand(name, options, io));
    });
  sub('test')
    .description('what a set would have decided in a recorded session: no command runs, nothing is sent or stored')
    .argument('<set>', 'a file (a path, *.yaml, *.json), or the name of a stored set')
    .argument('<session>', 'its id')
    .option('--tenant <id>', 'whose session it is', 'local')
    .action(async (set: string, session: string, options: RemoteOptions) => {
      const { policiesTestCommand } = await import('../command/policies.command.js');
      finish(await policiesTestCommand(set, session, options, io));
    });
}

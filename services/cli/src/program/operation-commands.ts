import type { Command } from 'commander';
import type { MigrateOptions } from '../command/migrate.command.js';
import type { ToolsOptions } from '../command/tools.command.js';
import type { TopologyCommandOptions } from '../command/topology.command.js';
import type { UpOptions } from '../command/up.command.js';
import type { RemoteOptions } from '../command/with-client.js';
import type { CommandIo } from '../command-io.js';
import { addPolicies } from './policy-commands.js';
import { remote, wholeNumber, type Finish } from './options.js';

const DATA = `
The data stays between starts, outside the folder: $XDG_DATA_HOME/jetloop/<name>-<hash>, by default below ~/.local/share, or
/var/tmp/jetloop-<hash> where that cannot be. \`jetloop doctor\` names the place.`;

/** The commands that start and prepare servers and services. */
export function addOperationCommands(program: Command, io: CommandIo, finish: Finish): void {
  program
    .command('up')
    .description('start servers and services for the current folder, and keep them running until ^C')
    .option('--policies <file...>', 'policy sets, YAML')
    .option('--models <file>', 'model targets, YAML (default: one from OPENAI_API_KEY, OPENAI_BASE_URL, OPENAI_MODEL)')
    .option('--json', 'one JSON object once it runs')
    .addHelpText('after', DATA)
    .action(async (options: UpOptions) => {
      const { upCommand } = await import('../command/up.command.js');
      finish(await upCommand(options, io));
    });

  program
    .command('topology')
    .description('the streams and consumers in NATS')
    .command('apply')
    .description('create what is missing, update what differs, and say what is there')
    .option('--nats <url>', 'which server (default: NATS_URL, or `jetloop up` in this folder)')
    .option('--replicas <number>', 'copies of every stream: 3 on a cluster', wholeNumber(1), 1)
    .option('--json', 'one JSON object')
    .action(async (options: TopologyCommandOptions) => {
      const { topologyApplyCommand } = await import('../command/topology.command.js');
      finish(await topologyApplyCommand(options, io));
    });

  program
    .command('migrate')
    .description('bring the tables of the database of DATABASE_URL to the newest schema')
    .option('--json', 'one JSON object')
    .action(async (options: MigrateOptions) => {
      const { migrateCommand } = await import('../command/migrate.command.js');
      finish(await migrateCommand(options, io));
    });
  addAgents(program.command('agents'), io, finish);
  addTools(program.command('tools'), io, finish);
  addPolicies(program.command('policies'), io, finish);
}

function addTools(tools: Command, io: CommandIo, finish: Finish): void {
  tools.description('tools and MCP servers, tried by hand: no services are needed');
  const common = (command: Command) =>
    command
      .option('--agent <file>', 'take tools and MCP servers of this agent spec (default: all built-in tools)')
      .option('--module <name...>', 'tool modules: packages, or paths of files')
      .option('--workspace <folder>', 'folder to work in (default: the current one)')
      .option('--json', 'JSON');
  common(tools.command('list'))
    .description('what there is')
    .action(async (options: ToolsOptions) => {
      const { toolsListCommand } = await import('../command/tools.command.js');
      finish(await toolsListCommand(options, io));
    });
  common(tools.command('call'))
    .description('make one call, and show what came of it')
    .argument('<tool>', 'its name')
    .argument('[arguments]', 'a JSON object', '{}')
    .action(async (tool: string, args: string, options: ToolsOptions) => {
      const { toolsCallCommand } = await import('../command/tools.command.js');
      finish(await toolsCallCommand(tool, args, options, io));
    });
}

function addAgents(agents: Command, io: CommandIo, finish: Finish): void {
  agents.description('agent specs that the services know by name');
  remote(agents.command('list'))
    .description('those of a tenant')
    .action(async (options: RemoteOptions) => {
      const { agentsListCommand } = await import('../command/agents.command.js');
      finish(await agentsListCommand(options, io));
    });
  remote(agents.command('show'))
    .description('one of them, whole')
    .argument('<name>', 'its name')
    .action(async (name: string, options: RemoteOptions) => {
      const { agentsShowCommand } = await import('../command/agents.command.js');
      finish(await agentsShowCommand(name, options, io));
    });
  remote(agents.command('put'))
    .description('store one, or replace the one of its name')
    .argument('<file>', 'agent spec, YAML')
    .action(async (file: string, options: RemoteOptions) => {
      const { agentsPutCommand } = await import('../command/agents.command.js');
      finish(await agentsPutCommand(file, options, io));
    });
}

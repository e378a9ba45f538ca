import { parseArgs } from 'node:util';
import { measureTools, toolsTables } from './tools.ts';

export const TOOLS_USAGE = `npm run bench -- tools [options]

  --calls 8000     calls of each tool that are made as fast as they go
  --at-once 64     how many of these run at once
  --single 1000    calls of each tool that are made one after the other`;

/** @returns the exit code */
export async function benchTools(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      calls: { type: 'string', default: '8000' },
      'at-once': { type: 'string', default: '64' },
      single: { type: 'string', default: '1000' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${TOOLS_USAGE}\n`);
    return 0;
  }
  const options = {
    calls: Number(values.calls),
    atOnce: Number(values['at-once']),
    single: Number(values.single),
  };
  process.stdout.write(`${toolsTables(await measureTools(options), options)}\n`);
  return 0;
}

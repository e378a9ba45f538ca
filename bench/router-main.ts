import { parseArgs } from 'node:util';
import { BENCH_DIALECTS } from './router-provider.ts';
import { measureRouter, routerTable, type RouterMeasurement } from './router.ts';

export const ROUTER_USAGE = `npm run bench -- router [options]

  --dialect chat|anthropic|google default: all of them
  --rate 200                      streams begun a second
  --seconds 10                    how long
  --open 500                      streams held open for the memory figures
  --profile FOLDER                a CPU profile of the router goes there`;

/** @returns the exit code */
export async function benchRouter(args: readonly string[]): Promise<number> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      dialect: { type: 'string' },
      rate: { type: 'string', default: '200' },
      seconds: { type: 'string', default: '10' },
      open: { type: 'string', default: '500' },
      profile: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  });
  if (values.help) {
    process.stdout.write(`${ROUTER_USAGE}\n`);
    return 0;
  }
  const rows: RouterMeasurement[] = [];
  for (const dialect of BENCH_DIALECTS) {
    if (values.dialect !== undefined && values.dialect !== dialect) continue;
    rows.push(
      await measureRouter({
        dialect,
        rate: Number(values.rate),
        seconds: Number(values.seconds),
        open: Number(values.open),
        ...(values.profile === undefined ? {} : { profileFolder: values.profile }),
      }),
    );
  }
  process.stdout.write(`${routerTable(rows)}\n`);
  return 0;
}

import type { SessionEntry } from '@jetloop/client';
import { writeJson, type CommandIo } from '../command-io.js';
import { EXIT, type ExitCode } from '../exit-code.js';
import { entryToJson } from '../render/entry-json.js';
import { styleOf } from '../render/style.js';
import { TurnRenderer } from '../render/turn-renderer.js';
import { totalsOf } from '../render/turn-totals.js';
import { planRun, type RunOptions } from '../run/plan-run.js';
import { runTurn, type TurnListener } from '../run/run-turn.js';
import { withServices } from '../run/with-services.js';

export interface RunCommandOptions extends RunOptions {
  readonly json?: boolean | undefined;
}

/** `jetloop run`: one prompt, one turn, shown as it happens. */
export async function runCommand(prompt: string, options: RunCommandOptions, io: CommandIo): Promise<ExitCode> {
  const plan = await planRun(prompt, options, io);
  const entries: SessionEntry[] = [];
  const listener = options.json ? jsonListener(io) : listenerFor(io);
  const { session, outcome } = await withServices(io, plan, (natsUrl) =>
    runTurn(io, plan, natsUrl, {
      ...listener,
      event: (entry) => {
        if (entry.event.type === 'turn.start') entries.length = 0;
        entries.push(entry);
        listener.event(entry);
      },
    }),
  );
  const exitCode = outcome.reason.kind === 'completed' ? EXIT.completed : EXIT.otherEnd;
  if (options.json) {
    const { reason: _, ...totals } = totalsOf(entries);
    writeJson(io, { outcome: { session, tenant: plan.tenant, ...outcome, ...totals, exitCode } });
  } else {
    const { dim } = styleOf(io.out);
    const tenant = plan.tenant === 'local' ? '' : ` --tenant ${plan.tenant}`;
    const nats = plan.where.kind === 'running' ? ` --nats ${plan.where.natsUrl}` : '';
    io.out.write(`${dim(`  what happened: jetloop show ${session}${tenant}${nats}`)}\n`);
  }
  return exitCode;
}

function jsonListener(io: CommandIo): TurnListener {
  return {
    begin: () => undefined,
    event: (entry) => {
      writeJson(io, entryToJson(entry));
    },
  };
}

function listenerFor(io: CommandIo): TurnListener {
  const renderer = new TurnRenderer(io.out, { showPrompt: false });
  return {
    begin: (session) => {
      io.out.write(`${styleOf(io.out).dim(`session ${session}`)}\n\n`);
    },
    event: (entry) => {
      renderer.event(entry);
    },
    delta: (delta) => {
      renderer.delta(delta);
    },
    output: (output) => {
      renderer.output(output);
    },
  };
}

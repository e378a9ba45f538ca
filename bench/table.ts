import type { Measurement } from './measure.ts';
import type { Profile, Share } from './profile.ts';
import { median } from './statistics.ts';

/** Rows of runs of one kind, with medians. */
export function tables(rows: readonly (readonly Measurement[])[]): string {
  const hasDecisions = rows.flat().some(({ policies }) => policies);
  return [speed(rows), ...(hasDecisions ? [decisions(rows)] : []), processes(rows), stored(rows)].join('\n\n');
}

function speed(rows: readonly (readonly Measurement[])[]): string {
  return table(
    [
      'sync',
      'sessions',
      'runs',
      'steps/s',
      'step p50 ms',
      'step p99 ms',
      'turn p50 ms',
      'SQL lag p50 / max ms',
      'SQL / EVENTS caught up ms',
      'load before / other cores',
    ],
    rows.map((runs) => {
      const of = middleOf(runs);
      return [
        runs[0]?.sync ?? '',
        String(runs[0]?.sessions ?? ''),
        String(runs.length),
        of((run) => run.stepsPerSecond, 0),
        of((run) => run.stepMs.p50),
        of((run) => run.stepMs.p99),
        of((run) => run.turnMs.p50),
        `${of((run) => run.projection.p50, 0)} / ${of((run) => run.projection.max, 0)}`,
        `${of((run) => run.projection.caughtUpMs, 0)} / ${of((run) => run.projection.unfoldedMs, 0)}`,
        `${of((run) => run.noise.loadBefore)} / ${of((run) => run.noise.otherCores, 2)}`,
      ];
    }),
  );
}

function decisions(rows: readonly (readonly Measurement[])[]): string {
  return table(
    ['the policy service', ...rows.map(labelOf)],
    [
      ['a question, p50 ms', ...rows.map((runs) => middleOf(runs)((run) => run.policies?.question.p50 ?? NaN, 2))],
      ['a question, p99 ms', ...rows.map((runs) => middleOf(runs)((run) => run.policies?.question.p99 ?? NaN, 2))],
      ['a decision, p50 ms', ...rows.map((runs) => middleOf(runs)((run) => run.policies?.decision.p50 ?? NaN, 2))],
      ['a decision, p99 ms', ...rows.map((runs) => middleOf(runs)((run) => run.policies?.decision.p99 ?? NaN, 2))],
      ['questions', ...rows.map((runs) => middleOf(runs)((run) => run.policies?.questions ?? NaN, 0))],
      ['decisions', ...rows.map((runs) => middleOf(runs)((run) => run.policies?.decisions ?? NaN, 0))],
    ],
  );
}

function processes(rows: readonly (readonly Measurement[])[]): string {
  const names = Object.keys(rows[0]?.[0]?.processes ?? {});
  return table(
    ['CPU ms a step / peak MB', ...rows.map(labelOf)],
    [
      ...names.map((name) => [
        name,
        ...rows.map((runs) => {
          const of = middleOf(runs);
          const cpu = of((run) => run.processes[name]?.cpuMsAStep ?? NaN, 2);
          return `${cpu} / ${of((run) => run.processes[name]?.peakMb ?? NaN, 0)}`;
        }),
      ]),
      [
        'all',
        ...rows.map((runs) =>
          middleOf(runs)((run) => Object.values(run.processes).reduce((sum, one) => sum + one.cpuMsAStep, 0), 2),
        ),
      ],
    ],
  );
}

function stored(rows: readonly (readonly Measurement[])[]): string {
  const lines: [string, (run: Measurement) => number, number][] = [
    ['messages: JOURNAL', (run) => run.stored.messagesAStep.journal, 2],
    ['messages: COMMANDS', (run) => run.stored.messagesAStep.commands, 2],
    ['messages: EVENTS', (run) => run.stored.messagesAStep.events, 2],
    ['messages: OBJ_BLOBS', (run) => run.stored.messagesAStep.blobs, 2],
    ['bytes: JOURNAL', (run) => run.stored.bytesAStep.journal, 0],
    ['bytes: EVENTS', (run) => run.stored.bytesAStep.events, 0],
    ['bytes: OBJ_BLOBS', (run) => run.stored.bytesAStep.blobs, 0],
    ['written to storage by nats-server, bytes', (run) => run.stored.writtenAStep.nats, 0],
    ['write-ahead log of Postgres, bytes', (run) => run.stored.writtenAStep.wal, 0],
    ['warnings and errors logged', (run) => run.complaints.length, 0],
  ];
  return table(
    ['stored a step', ...rows.map(labelOf)],
    lines.map(([name, value, digits]) => [name, ...rows.map((runs) => middleOf(runs)(value, digits))]),
  );
}

export function profileText({ busy, self, total, packages }: Profile): string {
  const list = (title: string, shares: readonly Share[]) =>
    [title, ...shares.map(({ name, part }) => `  ${percent(part).padStart(6)}  ${name}`)].join('\n');
  return [
    `busy ${percent(busy)} of the measured time; the shares below are of the busy time`,
    list('self, by function', self),
    list('with what they call, functions of this project', total),
    list('self, by package', packages),
  ].join('\n');
}

function percent(part: number): string {
  return `${(part * 100).toFixed(1)}%`;
}

function labelOf(runs: readonly Measurement[]): string {
  return `${runs[0]?.sessions ?? ''} (${runs[0]?.sync ?? ''})`;
}

function middleOf(runs: readonly Measurement[]) {
  return (value: (run: Measurement) => number, digits = 1) => median(runs.map(value)).toFixed(digits);
}

/** A Markdown table with columns of one width. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const all = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, i) => cell.padEnd(widths[i] ?? 0)).join(' | ')} |`;
  return [line(head), `| ${widths.map((width) => '-'.repeat(width)).join(' | ')} |`, ...rows.map(line)].join('\n');
}

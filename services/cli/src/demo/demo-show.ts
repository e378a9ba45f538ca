import type { SessionEntry } from '@jetloop/client';
import { entryToJson } from '../render/entry-json.js';
import { styleOf } from '../render/style.js';
import { renderTable } from '../render/table.js';
import type { Terminal } from '../render/terminal.js';
import { renderTimeline } from '../render/timeline.js';
import { TurnRenderer } from '../render/turn-renderer.js';

/** How the demo shows itself: to a person, or as JSON lines. */
export interface Show {
  title(name: string, what: string, note: string): void;
  /** The process of each service, for who wants to kill one. */
  processes(pids: Readonly<Record<string, number>>): void;
  /** Something that happened beside the turn. */
  readonly note: (text: string) => void;
  section(title: string, about: string): void;
  turn(): TurnRenderer | undefined;
  timeline(entries: readonly SessionEntry[]): void;
  table(table: { columns: readonly string[]; rows: readonly (readonly unknown[])[] }): void;
  verdict(isMended: boolean, durationMs: number): void;
}

export function textShow(terminal: Terminal): Show {
  const { name, dim, done, failed, symbols } = styleOf(terminal);
  const line = (text = '') => {
    terminal.write(`${text}\n`);
  };
  return {
    title: (title, what, note) => {
      line(`${name(title)} ${dim(symbols.dot)} ${what}`);
      line(dim(note));
    },
    processes: (pids) => {
      line(dim(`kill -9 any of them, it is started again and nothing is lost: ${pidList(pids)}`));
    },
    note: (text) => {
      line(failed(`${symbols.failed} ${text}`));
    },
    section: (title, about) => {
      line();
      line(name(title));
      line(dim(about));
      line();
    },
    turn: () => new TurnRenderer(terminal),
    timeline: (entries) => {
      renderTimeline(entries, terminal);
    },
    table: (table) => {
      renderTable(table, terminal);
    },
    verdict: (isMended, durationMs) => {
      const seconds = (durationMs / 1_000).toFixed(1);
      line();
      line(
        isMended
          ? done(
              `${symbols.done} The project is mended: its own tests pass, and they are the ones it came with (${seconds} s).`,
            )
          : failed(`${symbols.failed} The project is not mended: its tests fail, or were changed (${seconds} s).`),
      );
    },
  };
}

export function jsonShow(terminal: Terminal): Show {
  const write = (value: unknown) => {
    terminal.write(`${JSON.stringify(value)}\n`);
  };
  return {
    title: (title, what, note) => {
      write({ demo: title, what, note });
    },
    processes: (processes) => {
      write({ processes });
    },
    note: (note) => {
      write({ note });
    },
    section: (section, about) => {
      write({ section, about });
    },
    turn: () => undefined,
    timeline: (entries) => {
      for (const entry of entries) write(entryToJson(entry));
    },
    table: ({ columns, rows }) => {
      write({ columns, rows });
    },
    verdict: (isMended, durationMs) => {
      write({ mended: isMended, durationMs });
    },
  };
}

const pidList = (pids: Readonly<Record<string, number>>) =>
  Object.entries(pids)
    .map(([service, pid]) => `${service} ${pid}`)
    .join(', ');

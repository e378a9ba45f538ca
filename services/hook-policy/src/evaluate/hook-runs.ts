import type { HookRun } from '@jetloop/contracts';

const EXCERPT = 500;
const HEAD = 245;

/** A run of an external hook that has begun. */
export interface OpenRun {
  /** What it wrote on its standard error so far; an excerpt is kept. */
  stderr: string;
}

/** The runs of external hooks of one question, in the order in which they began. */
export class HookRuns {
  private readonly runs: { hook: string; startedAt: Date; open: OpenRun; ended?: { status: string; at: Date } }[] = [];

  constructor(private readonly now: () => Date) {}

  begin(hook: string): OpenRun {
    const open: OpenRun = { stderr: '' };
    this.runs.push({ hook, startedAt: this.now(), open });
    return open;
  }

  /** Ends whatever still runs. `ok`, or what went wrong. */
  end(status: string): void {
    for (const run of this.runs) run.ended ??= { status, at: this.now() };
  }

  /** @param withStderr false where it could show what a policy took out */
  all(withStderr: boolean): HookRun[] {
    return this.runs.map(({ hook, startedAt, open, ended }) => ({
      hook,
      status: ended?.status ?? 'running',
      startedAt: startedAt.toISOString(),
      durationMs: (ended?.at ?? startedAt).getTime() - startedAt.getTime(),
      ...(withStderr && open.stderr.trim() !== '' && { stderr: excerptOf(open.stderr.trim()) }),
    }));
  }
}

/** The beginning and the end: a cause stands in either. */
function excerptOf(text: string): string {
  if (text.length <= EXCERPT) return text.toWellFormed();
  return `${text.slice(0, HEAD)} … ${text.slice(HEAD + 3 - EXCERPT)}`.toWellFormed();
}

import { isKnownEvent, textOf, type Commit } from '@jetloop/contracts';
import { DamagedSessionError, Journal, type Bus } from '@jetloop/messaging';
import { commitsBySession } from './commits-by-session.js';
import { lastEvent } from './last-event.js';

export interface SessionPageOptions {
  /** Only sessions that work in exactly this folder. Default: all. */
  readonly workspace?: string;
  /** Where the page before ended (its `next`). Default: the newest session. */
  readonly before?: number;
  /** Sessions at most. Default 50. */
  readonly limit?: number;
}

/** A session with how it began and when it was last active. */
export interface ListedSession {
  readonly session: string;
  readonly workspace: string;
  /** Name of its agent. */
  readonly agent: string;
  /** Text of its first prompt; undefined as long as there is none. */
  readonly firstPrompt: string | undefined;
  /** RFC 3339. */
  readonly createdAt: string;
  /** RFC 3339: when its last event was committed. */
  readonly updatedAt: string;
}

export interface SessionPage {
  readonly sessions: readonly ListedSession[];
  /** Give it as `before` for the sessions that follow; undefined on the last page. */
  readonly next: number | undefined;
}

/** What never changes of a session: read once. */
interface Beginning {
  readonly session: string;
  readonly workspace: string;
  readonly agent: string;
  readonly createdAt: string;
  /** Stream sequence of its first commit. */
  readonly position: number;
}

/** Reads that are on their way at the same time. */
const PARALLEL = 64;
/** Commits in which a first prompt is looked for: behind it come only what creating and starting make. */
const FIRST_COMMITS = 8;

/** The sessions of a tenant in pages, the newest first: an order that no activity changes while somebody turns pages. */
export class SessionPages {
  private readonly beginnings = new Map<string, Beginning | undefined>();
  private readonly journal: Journal;

  constructor(
    private readonly bus: Bus,
    private readonly tenant: string,
  ) {
    this.journal = new Journal(bus);
  }

  async page({ workspace, before = Infinity, limit = 50 }: SessionPageOptions): Promise<SessionPage> {
    const known = await this.allBeginnings();
    const matching = known
      .filter(({ position }) => position < before)
      .filter((one) => workspace === undefined || one.workspace === workspace)
      .sort((a, b) => b.position - a.position);
    const chosen = matching.slice(0, limit);
    const sessions = await Promise.all(chosen.map((one) => this.listed(one)));
    return { sessions, next: matching.length > limit ? chosen.at(-1)?.position : undefined };
  }

  private async allBeginnings(): Promise<Beginning[]> {
    const present = await commitsBySession(this.bus, this.tenant);
    const unread = [...present.keys()].filter((session) => !this.beginnings.has(session)).values();
    const worker = async () => {
      for (const session of unread) this.beginnings.set(session, await this.read(session));
    };
    await Promise.all(Array.from({ length: PARALLEL }, worker));
    return [...present.keys()].flatMap((session) => this.beginnings.get(session) ?? []);
  }

  /** Undefined for a session whose first commit does not say how it began: it cannot be listed. */
  private async read(session: string): Promise<Beginning | undefined> {
    const [first] = await this.first(session, 1);
    const event = first?.commit.events[0];
    if (!first || !event || !isKnownEvent(event) || event.type !== 'session.created') return undefined;
    const { workspace, agent } = event.data;
    return { session, workspace, agent: agent.name, createdAt: first.commit.at, position: first.streamSequence };
  }

  private async listed({ position: _, ...beginning }: Beginning): Promise<ListedSession> {
    const [commits, last] = await Promise.all([
      this.first(beginning.session, FIRST_COMMITS),
      lastEvent(this.bus, this.tenant, beginning.session).catch(ifDamaged),
    ]);
    const firstPrompt = promptIn(commits.map(({ commit }) => commit));
    return { ...beginning, firstPrompt, updatedAt: last?.at ?? beginning.createdAt };
  }

  private async first(session: string, count: number) {
    const { commits } = await this.journal.page(this.tenant, session, 0, count).catch(() => ({ commits: [] })); // A damaged session hides no other.
    return commits;
  }
}

function ifDamaged(error: unknown): undefined {
  if (error instanceof DamagedSessionError) return undefined; // The list shows it by its beginning alone.
  throw error;
}

function promptIn(commits: readonly Commit[]): string | undefined {
  for (const event of commits.flatMap(({ events }) => events))
    if (isKnownEvent(event) && event.type === 'message.queued' && event.data.lane === 'turn')
      return textOf(event.data.content);
  return undefined;
}

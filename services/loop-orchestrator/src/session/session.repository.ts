import { Inject, Injectable } from '@nestjs/common';
import type { Commit } from '@jetloop/contracts';
import { Journal } from '@jetloop/messaging';
import { applyCommit, type SessionState } from '@jetloop/session';
import { MAX_CACHED_SESSIONS, ORCHESTRATOR_OPTIONS, type OrchestratorOptions } from '../options.js';

/** A session as its commits say, and where they end in JOURNAL (0: there are none). */
export interface LoadedSession {
  readonly state: SessionState | undefined;
  readonly streamSequence: number;
}

const EMPTY: LoadedSession = { state: undefined, streamSequence: 0 };

/** States of sessions: replayed once, then kept. The check at commit says when a kept one is stale. */
@Injectable()
export class SessionRepository {
  private readonly cache = new Map<string, LoadedSession>();

  constructor(
    private readonly journal: Journal,
    @Inject(ORCHESTRATOR_OPTIONS) private readonly options: OrchestratorOptions,
  ) {}

  /** The kept state, or the replayed one. */
  async get(tenant: string, session: string): Promise<LoadedSession> {
    return this.cache.get(`${tenant}.${session}`) ?? (await this.reload(tenant, session));
  }

  /** The kept state brought up to what the journal holds now. */
  async reload(tenant: string, session: string): Promise<LoadedSession> {
    let loaded = this.cache.get(`${tenant}.${session}`) ?? EMPTY;
    for (const { commit, streamSequence } of await this.journal.load(tenant, session, loaded.streamSequence)) {
      loaded = { state: applyCommit(loaded.state, commit), streamSequence };
    }
    return this.keep(tenant, session, loaded);
  }

  /** Appends a commit to what was loaded; `lost` when another commit was first. */
  async commit(loaded: LoadedSession, commit: Commit): Promise<LoadedSession | 'lost'> {
    const stored = await this.journal.commit(commit, loaded.streamSequence);
    if (stored === 'lost') return 'lost';
    return this.keep(commit.tenant, commit.session, {
      state: applyCommit(loaded.state, commit),
      streamSequence: stored,
    });
  }

  /** Whether the leader knows of no commit beyond what was loaded. */
  async isCurrent(tenant: string, session: string, loaded: LoadedSession): Promise<boolean> {
    return (await this.journal.last(tenant, session)) === loaded.streamSequence;
  }

  private keep(tenant: string, session: string, loaded: LoadedSession): LoadedSession {
    const key = `${tenant}.${session}`;
    this.cache.delete(key);
    if (loaded.state) this.cache.set(key, loaded);
    const oldest = this.cache.keys().next();
    const { maxCachedSessions = MAX_CACHED_SESSIONS, onCached } = this.options;
    if (this.cache.size > maxCachedSessions && !oldest.done) this.cache.delete(oldest.value);
    onCached?.(this.cache.size);
    return loaded;
  }
}

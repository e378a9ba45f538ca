import { assertEvent, isKnownEvent, parseCommit, parseCommitEnvelope, subjects, type Commit } from '@jetloop/contracts';
import { ApiError, type Bus } from '../connection/bus.js';
import { PublishRefusedError, PublishUnknownError, TerminalError } from '../errors.js';
import { faultPoint } from '../fault/fault-point.js';
import { readJournal } from './read-journal.js';

/** A commit in its place. */
export interface StoredCommit {
  readonly streamSequence: number;
  readonly commit: Commit;
  /** Its length as it lies in the journal. */
  readonly bytes: number;
}

/** The session is damaged: its commits are not contiguous from 0, or do not parse. Nothing is decided on it. */
export class DamagedSessionError extends Error {
  override readonly name = 'DamagedSessionError';
}

const WRONG_LAST_SEQUENCE = [10071, 10164];
const TRY_THE_SAME_AGAIN = 10163;
const NO_MESSAGE = 10037;
const BATCH = 500;
const SAME_AGAIN_TRIES = 5;

/** The truth: one message a commit, checked against the session's last one. Only the orchestrator commits. */
export class Journal {
  constructor(private readonly bus: Bus) {}

  /**
   * Appends a commit if the session's last commit is still at `expected` (a stream sequence; 0 for none).
   * @returns the commit's stream sequence, or `lost` when another commit was first
   * @throws TerminalError `too_large`, PublishUnknownError after five tries without an answer
   */
  async commit(commit: Commit, expected: number): Promise<number | 'lost'> {
    for (const event of commit.events) if (isKnownEvent(event)) assertEvent(event);
    const subject = subjects.log(commit.tenant, commit.session);
    const body = Buffer.from(JSON.stringify(commit));
    if (body.length + 512 > this.bus.maxPayload) {
      throw new TerminalError(
        'too_large',
        `The commit is ${body.length} bytes; the server takes ${this.bus.maxPayload} with headers.`,
      );
    }
    const headers = { 'Nats-Expected-Last-Subject-Sequence': String(expected) };
    for (let tries = 1; ; tries++) {
      try {
        await faultPoint('commit.before');
        const { sequence } = await this.bus.publisher.publish(subject, body, headers);
        await faultPoint('commit.after');
        return sequence;
      } catch (error) {
        if (error instanceof PublishRefusedError && WRONG_LAST_SEQUENCE.includes(error.code)) {
          return tries === 1 ? 'lost' : await this.ours(subject, body);
        }
        const again =
          error instanceof PublishUnknownError ||
          (error instanceof PublishRefusedError && error.code === TRY_THE_SAME_AGAIN);
        if (!again || tries >= SAME_AGAIN_TRIES) throw error;
      }
    }
  }

  /**
   * Commits of a session after `after` (a stream sequence; 0 for all), in order.
   * @throws DamagedSessionError when they do not parse
   */
  async load(tenant: string, session: string, after = 0): Promise<StoredCommit[]> {
    const commits: StoredCommit[] = [];
    for (let from = after, more = true; more;) {
      const page = await this.page(tenant, session, from);
      commits.push(...page.commits);
      from = page.commits.at(-1)?.streamSequence ?? from;
      more = page.more;
    }
    return commits;
  }

  /**
   * The first so many of them (and at most 8 MiB), for who need not hold all at once; `more`: others follow.
   * @throws DamagedSessionError when they do not parse
   */
  async page(
    tenant: string,
    session: string,
    after: number,
    count = BATCH,
  ): Promise<{ commits: StoredCommit[]; more: boolean }> {
    const options = { from: after + 1, filter: subjects.log(tenant, session), batch: count };
    const { messages, pending } = await readJournal(this.bus, options);
    const commits = messages.map(({ streamSequence, raw }) => ({
      streamSequence,
      commit: decodeCommit(raw),
      bytes: raw.byteLength,
    }));
    return { commits, more: messages.length > 0 && pending > 0 };
  }

  /** Stream sequence of the session's last commit by the leader's word; 0 for none. */
  async last(tenant: string, session: string): Promise<number> {
    return (await this.lastMessage(subjects.log(tenant, session)))?.sequence ?? 0;
  }

  /** After a lost acknowledgement: whether the session's last commit is the one we sent. */
  private async ours(subject: string, body: Buffer): Promise<number | 'lost'> {
    const last = await this.lastMessage(subject);
    return last !== undefined && Buffer.from(last.data, 'base64').equals(body) ? last.sequence : 'lost';
  }

  private async lastMessage(subject: string): Promise<{ sequence: number; data: string } | undefined> {
    try {
      const { message } = await this.bus.api<{ message: { seq: number; data: string } }>('STREAM.MSG.GET.JOURNAL', {
        last_by_subj: subject,
      });
      return { sequence: message.seq, data: message.data };
    } catch (error) {
      if (error instanceof ApiError && error.code === NO_MESSAGE) return undefined;
      throw error;
    }
  }
}

/** @throws DamagedSessionError */
export function decodeCommit(raw: Uint8Array): Commit {
  return decode(raw, parseCommit);
}

/**
 * A commit that the server republished when it stored it: its events were checked by their one writer a moment ago.
 * @throws DamagedSessionError
 */
export function decodeRepublished(raw: Uint8Array): Commit {
  return decode(raw, parseCommitEnvelope);
}

function decode(raw: Uint8Array, parse: (value: unknown) => Commit): Commit {
  try {
    return parse(JSON.parse(Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8')));
  } catch (error) {
    throw new DamagedSessionError(error instanceof Error ? error.message : String(error));
  }
}

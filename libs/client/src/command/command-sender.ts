import {
  callerCommandSchema,
  outcomeSchema,
  subjects,
  type CallerCommandInput,
  type Outcome,
} from '@jetloop/contracts';
import type { Bus } from '@jetloop/messaging';
import { CommandRefusedError } from '../errors.js';
import { describeIssues } from './describe-issues.js';
import { within } from './within.js';

/** Where a command goes. */
export interface SessionAddress {
  readonly tenant: string;
  readonly session: string;
}

export interface SendTimes {
  /** Milliseconds without an outcome after which the same command goes again. */
  readonly outcomeMs: number;
  /** How often it is sent at most. */
  readonly tries: number;
}

/** Five seconds a try, half a minute in all (spec 1.4). */
const DEFAULT_TIMES: SendTimes = { outcomeMs: 5_000, tries: 6 };

/** Room for headers and subject beside a command's body. */
const HEADROOM_BYTES = 512;

/** Sends callers' commands to a session's inbox and waits for what was decided. */
export class CommandSender {
  constructor(
    private readonly bus: Bus,
    private readonly times: SendTimes = DEFAULT_TIMES,
  ) {}

  /**
   * Resolves with the sequence of the event that accepted the command; null when nothing had to change. It listens before
   * it sends. Without an outcome the same command goes again under the same id, and gets the same answer.
   * @throws CommandRefusedError
   */
  async send({ tenant, session }: SessionAddress, command: CallerCommandInput): Promise<number | null> {
    const parsed = callerCommandSchema.safeParse(command);
    if (!parsed.success) throw new CommandRefusedError('invalid', describeIssues(command.kind, parsed.error.issues));
    const body = Buffer.from(JSON.stringify(parsed.data));
    if (body.length + HEADROOM_BYTES > this.bus.maxPayload) {
      throw new CommandRefusedError(
        'too_large',
        `The command is ${body.length} bytes: expected at most ${this.bus.maxPayload - HEADROOM_BYTES}, which is what the server takes.`,
      );
    }
    const answer = Promise.withResolvers<Outcome>();
    const subscription = this.bus.nats.subscribe(subjects.outcome(tenant, session, command.commandId), {
      callback: (error, message) => {
        if (error) answer.reject(error);
        else answer.resolve(readOutcome(message.data));
      },
    });
    try {
      return accepted(await this.exchange(subjects.inbox(tenant, session), body, answer.promise));
    } finally {
      subscription.unsubscribe();
    }
  }

  private async exchange(inbox: string, body: Uint8Array, answer: Promise<Outcome>): Promise<Outcome> {
    let trouble = 'received, not decided: is a loop-orchestrator running?';
    for (let tries = 1; tries <= this.times.tries; tries++) {
      // A publish without acknowledgement may be stored all the same: the outcome alone counts.
      this.bus.publisher.publish(inbox, body).catch((error: unknown) => {
        trouble = error instanceof Error ? error.message : String(error);
      });
      const outcome = await within(this.times.outcomeMs, answer);
      if (outcome !== undefined) return outcome;
    }
    const seconds = Math.round((this.times.outcomeMs * this.times.tries) / 1_000);
    throw new CommandRefusedError('unavailable', `No answer to the command in ${seconds} s (${trouble})`);
  }
}

function accepted(outcome: Outcome): number | null {
  if (outcome.status === 'accepted') return outcome.sequence;
  throw new CommandRefusedError(outcome.code, outcome.message, outcome.retryAfterMs);
}

function readOutcome(data: Uint8Array): Outcome {
  const value: unknown = JSON.parse(Buffer.from(data).toString('utf8'));
  return outcomeSchema.parse(value);
}

import { subjects, type ToolCommand, type ToolReply } from '@jetloop/contracts';
import { faultPoint, RetryableError, type DeadLetters, type Delivery } from '@jetloop/messaging';
import { refusal } from '../call/refusal.js';
import type { EffectLedger } from './effect-ledger.js';
import type { EffectRun } from './effect-run.js';

type CallCommand = Extract<ToolCommand, { op: 'call' }>;
type Result = ToolReply['result'];

/** Carries out calls that must not run twice. */
export class EffectGuard {
  constructor(
    private readonly ledger: EffectLedger,
    private readonly dead: DeadLetters,
  ) {}

  /**
   * The result of the call's one run, whoever made it; undefined when this runner made it and was given up meanwhile.
   * @throws RetryableError while another runner is at it
   */
  async runOnce(command: CallCommand, delivery: Delivery, work: () => Promise<Result>): Promise<Result | undefined> {
    const age = Date.now() - Date.parse(command.since);
    const begun = await this.ledger.begin(command.effectId, age, delivery.deliveries > 1);
    if (begun.kind === 'stored') return begun.result;
    if (begun.kind === 'unknown') return outcomeUnknown(command.name);
    const { run } = begun;
    try {
      return await this.#carryOut(command, delivery, run, work);
    } catch (error) {
      run.abandon();
      throw error;
    }
  }

  knows(effectId: string): Promise<boolean> {
    return this.ledger.knows(effectId);
  }

  async #carryOut(
    command: CallCommand,
    delivery: Delivery,
    run: EffectRun,
    work: () => Promise<Result>,
  ): Promise<Result | undefined> {
    await faultPoint('ledger.after-start');
    let stopped: Promise<unknown> | undefined;
    const onStop = () => {
      stopped = run.end({ status: 'unknown' });
    };
    delivery.signal.addEventListener('abort', onStop, { once: true });
    try {
      const result = await work();
      await faultPoint('effect.after');
      if (stopped) {
        await stopped;
        throw new RetryableError('the runner stops');
      }
      if ((await run.end({ status: 'done', result })) === 'kept') return result;
      await this.#recordLate(command, delivery, result);
      return undefined;
    } finally {
      delivery.signal.removeEventListener('abort', onStop);
    }
  }

  /** It was given up as unknown, and said so to the model: what came of it must not reach the model a second time. */
  async #recordLate({ tenant, session, effectId }: CallCommand, delivery: Delivery, result: Result): Promise<void> {
    const { stream, streamSequence, deliveries, headers } = delivery;
    const subject = subjects.reply(tenant, session, 'tool');
    const body = Buffer.from(JSON.stringify(result));
    const reason = `effect ${effectId} was given up as unknown before its result came`;
    await this.dead.write(
      { subject, body, stream, streamSequence, deliveries, headers },
      { class: 'late', code: 'outcome_unknown', reason },
    );
  }
}

/** What the model is told of a call whose runner died in it. */
export function outcomeUnknown(tool: string): Result {
  return refusal(
    'OutcomeUnknown',
    'outcome_unknown',
    `It is not known what came of this call of ${tool}: what carried it out stopped in between. It may have happened, in whole or in part. Look before you try it again.`,
  );
}

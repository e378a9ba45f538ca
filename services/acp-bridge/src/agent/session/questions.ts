import { setImmediate as turnOfLoop } from 'node:timers/promises';
import type { RequestPermissionRequest } from '@agentclientprotocol/sdk';
import { CommandRefusedError, type JetloopClient } from '@jetloop/client';
import type { Editor } from '../editor.js';
import type { Question } from '../translate/told.js';

export interface QuestionsOptions {
  readonly client: Pick<JetloopClient, 'decideApproval'>;
  readonly editor: Editor;
  readonly session: string;
  /** Whether the person cancels the turn: what is dismissed then is the cancel's to decide. */
  readonly isCancelling: () => boolean;
  /** Says on standard error what cannot be said elsewhere. */
  readonly complain: (line: string) => void;
}

/** The open approvals of a session, each asked of the person once. */
export class Questions {
  private readonly waiting = new Map<string, Question>();
  private readonly asked = new Map<string, AbortController>();
  private isStarted = false;

  constructor(private readonly options: QuestionsOptions) {}

  /** Asks what is open, and from now on what comes: before, a log that is read may hold the decision too. */
  start(): void {
    this.isStarted = true;
    for (const question of this.waiting.values()) void this.ask(question);
    this.waiting.clear();
  }

  open(question: Question): void {
    if (this.isStarted) void this.ask(question);
    else this.waiting.set(question.approvalId, question);
  }

  /** It is decided: a question that is still before the person is taken back. */
  close(approvalId: string): void {
    this.waiting.delete(approvalId);
    this.asked.get(approvalId)?.abort();
  }

  /** Takes all of them back. The approvals stay open. */
  stop(): void {
    this.isStarted = false;
    this.waiting.clear();
    for (const controller of this.asked.values()) controller.abort();
  }

  private async ask(question: Question): Promise<void> {
    const { approvalId } = question;
    const { editor, session, isCancelling } = this.options;
    const controller = new AbortController();
    this.asked.set(approvalId, controller);
    let note: string | undefined;
    let isApproved = false;
    try {
      const { outcome } = await editor.ask(requestOf(session, question), controller.signal);
      // The cancel that a dismissal comes with was sent before it, and is taken within this turn of the loop.
      await turnOfLoop();
      if (outcome.outcome === 'cancelled' && isCancelling()) return;
      isApproved = outcome.outcome === 'selected' && outcome.optionId === APPROVE;
      if (outcome.outcome === 'cancelled') note = 'dismissed in the editor';
    } catch (error) {
      // Taken back, or nobody is there any more: then it is not this editor's to decide.
      if (controller.signal.aborted || editor.closed.aborted) return;
      note = `the editor could not ask: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      this.asked.delete(approvalId);
    }
    await this.decide(approvalId, isApproved, note);
  }

  private async decide(approvalId: string, isApproved: boolean, note: string | undefined): Promise<void> {
    const { client, session, complain } = this.options;
    try {
      const outcome = isApproved ? 'approved' : 'rejected';
      await client.decideApproval(session, approvalId, outcome, note === undefined ? {} : { note });
    } catch (error) {
      // Somebody else was first, or the turn is over.
      if (error instanceof CommandRefusedError && ['stale', 'closed', 'not_found'].includes(error.code)) return;
      complain(`approval ${approvalId} was not decided: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
}

const APPROVE = 'approve';

function requestOf(
  sessionId: string,
  { approvalId, question, expiresAt, toolCall }: Question,
): RequestPermissionRequest {
  return {
    sessionId,
    toolCall: { ...toolCall, content: [{ type: 'content', content: { type: 'text', text: question } }] },
    options: [
      { optionId: APPROVE, name: 'Approve', kind: 'allow_once' },
      { optionId: 'reject', name: 'Reject', kind: 'reject_once' },
    ],
    _meta: { jetloop: { approvalId, expiresAt } },
  };
}

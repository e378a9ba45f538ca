import { cancelledAnswer, type PromptAnswer } from '../translate/prompt-answer.js';

/** A prompt that waits for the end of its turn. */
export class OpenPrompt {
  private readonly answered = Promise.withResolvers<PromptAnswer>();
  private cancelled = false;
  /** Whether its command may have reached the session. */
  isSent = false;
  isSettled = false;

  constructor(readonly messageId: string) {
    this.answered.promise.catch(() => undefined); // Who waits gets it; nobody may wait yet.
  }

  /** Once cancelled, it is answered as cancelled, however its turn ends. */
  get isCancelled(): boolean {
    return this.cancelled;
  }

  get answer(): Promise<PromptAnswer> {
    return this.answered.promise;
  }

  cancel(): void {
    this.cancelled = true;
    if (!this.isSent) this.settle(cancelledAnswer);
  }

  settle(answer: PromptAnswer): void {
    this.isSettled = true;
    this.answered.resolve(this.cancelled ? cancelledAnswer : answer);
  }

  fail(error: Error): void {
    this.isSettled = true;
    if (this.cancelled) this.answered.resolve(cancelledAnswer);
    else this.answered.reject(error);
  }
}

import { Injectable } from '@nestjs/common';
import type { CallerCommand, ContentBlock, HookReply, InputBlock, Reply } from '@jetloop/contracts';
import { ClaimCheck } from '@jetloop/messaging';

/** JSON bytes of a caller's content that stay in the log: its commit may hold it twice, and must fit one message. */
const CALLER_BYTES = 200 * 1024;
/** JSON bytes of a worker's content that stay in the log. */
const REPLY_BYTES = 400 * 1024;

/** Keeps large contents outside the log before they are decided on: a commit has to fit one message of the server. */
@Injectable()
export class ContentKeeper {
  constructor(private readonly check: ClaimCheck) {}

  /** The command, with references in place of large blocks. */
  async ofCaller<C extends CallerCommand>(tenant: string, session: string, command: C): Promise<C> {
    if ('content' in command) return { ...command, content: await this.keep(tenant, session, command.content) };
    if (command.kind !== 'create' || !command.prompt) return command;
    const content = await this.keep(tenant, session, command.prompt.content);
    return { ...command, prompt: { ...command.prompt, content } };
  }

  /** The reply of a worker, with references in place of large blocks. */
  async ofReply(tenant: string, session: string, reply: Reply): Promise<Reply> {
    const keep = (content: readonly ContentBlock[]) => this.check.keep(tenant, session, content, REPLY_BYTES);
    if (reply.kind === 'tool' && reply.result.status === 'result')
      return { ...reply, result: { ...reply.result, content: await keep(reply.result.content) } };
    if (reply.kind === 'llm' && reply.result.status === 'ok')
      return { ...reply, result: { ...reply.result, content: await this.said(keep, reply.result.content) } };
    if (reply.kind === 'hook') return this.ofAnswer(tenant, session, reply);
    if (reply.kind === 'child') return { ...reply, content: await keep(reply.content) };
    return reply;
  }

  /** What policies wrote in place of a prompt or of a result, and the result that they were shown. */
  private async ofAnswer(tenant: string, session: string, reply: HookReply): Promise<HookReply> {
    const keep = (content: readonly ContentBlock[]) => this.check.keep(tenant, session, content, REPLY_BYTES);
    const { asked, result } = reply;
    const shown = asked ? { asked: { ...asked, content: await keep(asked.content) } } : {};
    if (result.status !== 'decided') return { ...reply, ...shown };
    const { decision } = result;
    if (decision.decision === 'accept' && decision.content) {
      const content = await keep(decision.content);
      return { ...reply, ...shown, result: { status: 'decided', decision: { ...decision, content } } };
    }
    if (decision.decision !== 'allow' || !decision.content) return { ...reply, ...shown };
    const content = await this.keep(tenant, session, decision.content);
    return { ...reply, ...shown, result: { status: 'decided', decision: { ...decision, content } } };
  }

  /** Calls stay: the loop reads them. */
  private async said(
    keep: (content: readonly ContentBlock[]) => Promise<ContentBlock[]>,
    content: readonly ContentBlock[],
  ): Promise<ContentBlock[]> {
    const kept = await keep(content.filter(({ type }) => type === 'text' || type === 'json'));
    return content.map((block) => (block.type === 'text' || block.type === 'json' ? (kept.shift() ?? block) : block));
  }

  private keep(tenant: string, session: string, content: readonly InputBlock[]): Promise<InputBlock[]> {
    return this.check.keep(tenant, session, content, CALLER_BYTES);
  }
}

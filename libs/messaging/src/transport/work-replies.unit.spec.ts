import { describe, expect, it } from '@jest/globals';
import { hookReplySchema, plainDecision, type HookReply, type SeamSubject } from '@jetloop/contracts';
import { WorkReplies } from './work-replies.js';

const commandId = 'acme.s1.1.1.hook.post-tool.0.1';
const result = { content: [{ type: 'text' as const, text: 'done' }], isError: false, durationMs: 1 };
const subject: SeamSubject = {
  ...{ seam: 'post-tool', agent: 'coder', n: 0, callId: 'c', name: 'bash', arguments: {} },
  result,
};
const work = {
  kind: 'hook' as const,
  command: {
    ...{ commandId, tenant: 'acme', session: 's1', turn: 1, step: 1, what: 'hook.post-tool.0', attempt: 1, upTo: 3 },
    ...{ since: '2026-01-01T00:00:00Z', deadline: '2026-01-01T01:00:00Z', subject },
  },
};
const plain = (seam: 'post-tool' | 'pre-step') => ({
  ...{ seam, hooks: [], observed: [] },
  result: { status: 'decided' as const, decision: plainDecision(seam) },
});

/** What is stored of an answer whose part that follows has this many characters, where a message takes 4,096 bytes. */
async function stored(characters: number): Promise<HookReply | undefined> {
  let body: Uint8Array | undefined;
  const publish = (_subject: string, sent: Uint8Array) => {
    body = sent;
    return Promise.resolve({ stream: 'COMMANDS', sequence: 1, duplicate: false });
  };
  const reply: HookReply = {
    ...{ commandId, kind: 'hook', asked: result },
    ...plain('post-tool'),
    followed: [{ commandId: 'next', digest: 'd'.repeat(characters), ...plain('pre-step') }],
  };
  await new WorkReplies({ maxPayload: 4_096, publisher: { publish } }).publish(work, reply);
  return body && hookReplySchema.parse(JSON.parse(Buffer.from(body).toString()));
}

describe('a reply with answers to what follows', () => {
  it('is stored whole where it fits', async () => {
    expect((await stored(10))?.followed).toHaveLength(1);
  });

  it('is stored without them where it does not: the answer counts, and what follows is asked again', async () => {
    const reply = await stored(4_096);
    expect(reply?.followed).toBeUndefined();
    expect(reply).toMatchObject({ result: { status: 'decided' }, asked: result });
  });
});

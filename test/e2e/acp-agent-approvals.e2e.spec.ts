import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { AcpEditor, Frame } from './support/acp-editor.js';
import { AcpSystem, calls, scripted } from './support/acp-system.js';

const targets = {
  writes: scripted(
    { match: { hasToolResult: true }, reply: { text: 'done' } },
    calls({ name: 'write_file', arguments: { path: 'asked.txt', content: 'written' } }),
  ),
};

const asks = `
name: asks
agents: ['*']
policies:
  - name: writing
    seam: pre-tool
    when: { tool: write_file }
    decide: { ask: { question: 'May the file be written?', expires-in: 2m } }
`;

const METHOD = 'session/request_permission';

// The first test of an editor waits for its process to start.
jest.setTimeout(180_000);

let acp: AcpSystem;
beforeAll(async () => {
  const agents = { writer: { model: { chain: ['writes'] }, tools: ['write_file'] } };
  acp = await AcpSystem.start({ targets, policies: [asks], agents });
});
beforeEach(() => rm(join(acp.workspace, 'asked.txt'), { force: true }));
afterEach(() => {
  acp.killEditors();
});
afterAll(() => acp.stop());

const written = () => readFile(join(acp.workspace, 'asked.txt'), 'utf8').catch(() => undefined);

/** A session whose turn waits for the person. */
async function asking(where?: AcpEditor): Promise<{
  editor: AcpEditor;
  id: string;
  request: number;
  question: Frame;
  approvalId: string;
}> {
  const { editor, id, session } = await (where ? acp.beginIn(where) : acp.begin());
  const request = editor.prompt(id, 'write it');
  const question = await editor.until(
    ({ method, params }) => method === METHOD && params?.['sessionId'] === id,
    'the question',
  );
  const [{ approvalId } = { approvalId: '' }] = await session.data('approval.requested');
  return { editor, id, request, question, approvalId };
}

const decisions = (id: string) => acp.session(id).data('approval.decided');

describe('A44 permission', () => {
  it('A44 asks with what the call is about, two options, behind its tool_call', async () => {
    const { editor, id, question, approvalId } = await asking();
    expect(question.params).toMatchObject({
      sessionId: id,
      toolCall: {
        toolCallId: '1.1.0',
        title: 'write_file asked.txt',
        kind: 'edit',
        rawInput: { path: 'asked.txt', content: 'written' },
        content: [{ type: 'content', content: { text: expect.stringContaining('May the file be written?') } }],
      },
      options: [
        { optionId: expect.any(String), kind: 'allow_once' },
        { optionId: expect.any(String), kind: 'reject_once' },
      ],
      _meta: { jetloop: { approvalId } },
    });
    expect(editor.updates(id, 0, editor.indexOf(question)).map(({ status }) => status)).toEqual(['pending']);
  });

  it('A44 approve: the call runs', async () => {
    const { editor, id, request, question } = await asking();
    editor.answer(question.id, { outcome: { outcome: 'selected', optionId: optionOf(question, 'allow_once') } });
    expect(await editor.response(request)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(await decisions(id)).toMatchObject([{ outcome: 'approved' }]);
    expect(await written()).toBe('written');
    const statuses = editor.updates(id).flatMap(({ status }) => status ?? []);
    expect(statuses).toEqual(['pending', 'in_progress', 'completed']);
  });

  it('A44 reject: the call does not run, and is never shown as running', async () => {
    const { editor, id, request, question } = await asking();
    editor.answer(question.id, { outcome: { outcome: 'selected', optionId: optionOf(question, 'reject_once') } });
    expect(await editor.response(request)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(await decisions(id)).toMatchObject([{ outcome: 'rejected' }]);
    expect(await written()).toBeUndefined();
    expect(editor.updates(id).flatMap(({ status }) => status ?? [])).toEqual(['pending', 'failed']);
  });

  it.each<[string, (editor: AcpEditor, id: Frame['id']) => void]>([
    [
      'dismissed',
      (editor, id) => {
        editor.answer(id, { outcome: { outcome: 'cancelled' } });
      },
    ],
    [
      'failed',
      (editor, id) => {
        editor.send({ jsonrpc: '2.0', id, error: { code: -32601, message: 'unknown' } });
      },
    ],
    [
      'answered with an unknown option',
      (editor, id) => {
        editor.answer(id, { outcome: { outcome: 'selected', optionId: '?' } });
      },
    ],
    [
      'answered with nothing',
      (editor, id) => {
        editor.answer(id, {});
      },
    ],
  ])('A44 %s: rejected', async (_how, reply) => {
    const { editor, id, request, question } = await asking();
    reply(editor, question.id);
    expect(await editor.response(request)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(await decisions(id)).toMatchObject([{ outcome: 'rejected' }]);
    expect(await written()).toBeUndefined();
  });

  it('A44 decided elsewhere: the question is taken back, and a late answer changes nothing', async () => {
    const { editor, id, request, question, approvalId } = await asking();
    await acp.system.client.decideApproval(id, approvalId, 'approved');
    await editor.until(
      ({ method, params: of }) => method === '$/cancel_request' && of?.['requestId'] === question.id,
      'the question taken back',
    );
    editor.answer(question.id, { outcome: { outcome: 'selected', optionId: optionOf(question, 'reject_once') } });
    expect(await editor.response(request)).toMatchObject({ result: { stopReason: 'end_turn' } });
    expect(await decisions(id)).toMatchObject([{ outcome: 'approved', by: 'test' }]);
    expect(await written()).toBe('written');
  });

  it('A44 cancelled: the turn is, and the dismissal that comes with it decides nothing', async () => {
    const { editor, id, request, question } = await asking();
    editor.notify('session/cancel', { sessionId: id });
    editor.answer(question.id, { outcome: { outcome: 'cancelled' } });
    expect(await editor.response(request)).toMatchObject({ result: { stopReason: 'cancelled' } });
    expect(await decisions(id)).toMatchObject([{ outcome: 'cancelled' }]);
    expect(await written()).toBeUndefined();
    expect(editor.updates(id).at(-1)).toMatchObject({ status: 'failed' });
  });

  it('A44 left open by an editor that is gone: the next one is asked', async () => {
    const { editor, id, question } = await asking(await acp.open('writer'));
    expect(await editor.end()).toBe(0);
    const next = await acp.shared();
    const from = next.frames.length;
    const load = next.request('session/load', { sessionId: id, cwd: acp.workspace, mcpServers: [] });
    const answer = await next.response(load);
    const again = await next.asked(METHOD, from);
    expect(next.indexOf(again)).toBeGreaterThan(next.indexOf(answer));
    expect(again.params?.['_meta']).toEqual(question.params?.['_meta']);
    next.answer(again.id, { outcome: { outcome: 'selected', optionId: optionOf(again, 'allow_once') } });
    await acp.session(id).until('turn.end');
    expect(await decisions(id)).toMatchObject([{ outcome: 'approved' }]);
  });
});

function optionOf({ params }: Frame, kind: string): string {
  const options = params?.['options'] as { optionId: string; kind: string }[];
  return options.find((option) => option.kind === kind)?.optionId ?? 'none';
}

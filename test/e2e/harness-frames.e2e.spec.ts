import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  subjects,
  type ContentBlock,
  type HarnessEvents,
  type Json,
  type LiveDelta,
  type RecordedEvent,
} from '@jetloop/contracts';
import { deriveMessages } from '@jetloop/session';
import fc from 'fast-check';
import { ended, frameCases, type FrameCase } from './support/acp/frame-cases.js';
import { chunk, raw, told, update } from './support/acp/frames.js';
import { expectedOf, generatedLines } from './support/acp/generated-frames.js';
import { ScriptedAgent, storyOf, type Agent } from './support/acp/scripted-agent.js';
import { TestSystem } from './support/test-system.js';
import { isWhole } from '@jetloop/testing';

/** A line as bytes that a script can hold. */
function encoded(line: string | Uint8Array): string {
  return Buffer.concat([Buffer.from(line), Buffer.from('\n')]).toString('base64');
}

/** What came of a case. */
interface Played {
  readonly events: readonly RecordedEvent[];
  readonly live: readonly LiveDelta[];
  /** What its messages say, those that went to the blob store included. */
  readonly said: () => Promise<ContentBlock[][]>;
}

describe('frames of an external agent, from its pipe to the log', () => {
  let system: TestSystem;
  const played = new Map<string, Promise<Played>>();

  /** Every line in one write of its own, then the answer. */
  const play = async ({ lines, answer = { result: { stopReason: 'end_turn' } } }: FrameCase): Promise<Played> => {
    const agent = await ScriptedAgent.write(
      system.workspace,
      async (a) => {
        const { lines: written, answer: members } = a.args as { lines: string[]; answer: object };
        const prompt = await a.prompted();
        for (const line of written) await a.raw(Buffer.from(line, 'base64'));
        await a.send({ id: prompt.id, ...members });
      },
      { script: { lines: lines.map((line) => encoded(line)), answer } },
    );
    const session = await system.create('none', agent.spec);
    const live: LiveDelta[] = [];
    const over = Promise.withResolvers<undefined>();
    const stop = system.client.live(
      session.id,
      (delta) => {
        if (delta.kind === 'end') over.resolve(undefined);
        else live.push(delta);
      },
      'delta',
    );
    await session.prompt('hi');
    await over.promise;
    stop();
    const said = async () => {
      const messages = await session.data('assistant.message');
      return Promise.all(messages.map(({ content }) => system.client.restore(session.id, content)));
    };
    return { events: await session.events(), live, said };
  };

  beforeAll(async () => {
    system = await TestSystem.start({ targets: {}, harnessTimes: { terminateMs: 600, killMs: 1_000 } });
    // A few at once: each starts a process of its own, and waits for its agent alone.
    const waiting = Object.entries(frameCases).values();
    const lane = async () => {
      for (const [name, one] of waiting) {
        const playing = play(one);
        played.set(name, playing);
        await playing.catch(() => undefined); // told by the case itself
      }
    };
    await Promise.all(Array.from({ length: 4 }, lane));
  }, 300_000);
  afterAll(async () => {
    await system.stop();
  });

  it.each(Object.keys(frameCases))('%s', async (name) => {
    const { log, answer = { result: { stopReason: 'end_turn' } }, end = ended('completed'), live } = frameCases[name]!;
    const { events, live: seen } = await played.get(name)!;
    const before = ['session.created', 'message.queued', 'turn.start', 'user.message', 'step.start'];
    expect(events.slice(0, 7).map(({ type }) => type)).toEqual([...before, 'harness.raw', 'harness.raw']);
    expect(told(events.slice(7))).toEqual([
      ...log,
      raw('session/prompt', { jsonrpc: '2.0', id: 3, ...answer }),
      ...end,
    ]);
    if (!live) return;
    const attemptId = seen[0]?.attemptId;
    expect(seen).toEqual(
      live.map(([kind, words, messageId], n) => ({
        ...{ turn: 1, step: 1, attemptId, n, kind, text: words },
        ...(messageId === undefined ? {} : { messageId }),
      })),
    );
  });

  it('A7 what the agent repeats of the person is no message for a model', async () => {
    const name = Object.keys(frameCases).find((one) => one.startsWith('A7'))!;
    const { events } = await played.get(name)!;
    expect(deriveMessages(events)).toMatchObject([{ role: 'user', content: [{ text: 'hi' }] }]);
  });

  it('A22 nothing of generated lines is dropped: an event for each in their order, and one message of all chunks', async () => {
    const property = fc.asyncProperty(generatedLines, async (lines) => {
      const { events } = await play({ lines: lines.map(({ line }) => line), log: [] });
      const log = told(events.slice(7));
      const expected = expectedOf(lines);
      const rest = log.slice(expected.events.length);
      // As texts: the order of members counts too.
      expect(log.slice(0, expected.events.length).map((one) => JSON.stringify(one))).toEqual(
        expected.events.map((one) => JSON.stringify(one)),
      );
      const isSaid = lines.some(({ text }) => text !== undefined);
      const data = {
        content: expected.text === '' ? [] : [{ type: 'text', text: expected.text }],
        ...(expected.meta.length > 0 ? { meta: expected.meta } : {}),
      };
      if (isSaid) expect(rest.shift()).toMatchObject({ type: 'assistant.message', data });
      expect(rest).toEqual([
        raw('session/prompt', { jsonrpc: '2.0', id: 3, result: { stopReason: 'end_turn' } }),
        ...ended('completed'),
      ]);
    });
    await fc.assert(property, { numRuns: isWhole ? 100 : 4, endOnFailure: true });
  }, 120_000);

  /** Runs a script in a session of its own. */
  const run = async (script: (a: Agent) => Promise<void>, harness: Parameters<typeof ScriptedAgent.write>[2] = {}) => {
    const agent = await ScriptedAgent.write(system.workspace, script, harness);
    const session = await system.create('none', agent.spec);
    return { agent, session, end: await session.prompt('hi') };
  };

  it('A19 the third attempt: its events carry turn, step and attempt, and are numbered from 0 without a gap', async () => {
    const mark = join(system.workspace, 'attempts');
    const agent = await ScriptedAgent.write(
      system.workspace,
      async (a) => {
        const { appendFileSync, readFileSync } = await import('node:fs');
        appendFileSync(a.args as string, 'x');
        const prompt = await a.prompted();
        if (readFileSync(a.args as string).length < 3) process.exit(1);
        for (let n = 0; n < 8; n++) await a.update('current_mode_update', { currentModeId: `m${n}` });
        await a.stop(prompt);
      },
      { script: mark, maxAttempts: 3, continuity: 'fresh' },
    );
    const session = await system.create('none', agent.spec);
    const replies: HarnessEvents[] = [];
    const finished = Promise.withResolvers<undefined>();
    const seen = system.bus.nats.subscribe(subjects.reply(system.tenant, session.id, 'acp'), {
      callback: (_error, message) => {
        const reply = JSON.parse(Buffer.from(message.data).toString()) as HarnessEvents;
        if (reply.attempt !== 3) return;
        if ('events' in reply) replies.push(reply);
        else finished.resolve(undefined);
      },
    });
    expect(await session.prompt('hi')).toEqual({ kind: 'completed' });
    await finished.promise;
    seen.unsubscribe();
    for (const reply of replies)
      expect(reply).toMatchObject({ turn: 1, attempt: 3, commandId: `${system.tenant}.${session.id}.1.1.acp.3` });
    const numbered = replies.flatMap(({ from, events }) => events.map((event, n) => ({ sequence: from + n, event })));
    expect(numbered.map(({ sequence }) => sequence)).toEqual(Array.from({ length: 11 }, (_, n) => n));
    // Behind both answers of the handshake.
    expect(numbered[7]?.event).toEqual(raw('session/update/current_mode_update', { currentModeId: 'm5' }));
    expect(storyOf(await session.events()).filter((type) => type === 'work.deferred')).toHaveLength(2);
  });

  it('A20 a message ends at 1 MiB; a chunk that is too large for one live message is shown in pieces', async () => {
    const [half, words] = ['é'.repeat(256 * 1024), 'é€😀'.repeat(140_000)]; // the second: 1.2 MiB in one chunk
    const all = [half, half, 'x', words];
    const { live, said } = await play({ lines: all.map((one) => chunk('agent_message_chunk', one)), log: [] });
    const lengths = (await said()).map((blocks) =>
      blocks.map((one) => (one.type === 'text' ? one.text.length : one.type)),
    );
    expect(lengths).toEqual([[512 * 1024], [1], [words.length]]);
    expect(live.map(({ n }) => n)).toEqual(live.map((_, n) => n));
    expect(live.map(({ text = '' }) => text).join('') === all.join('')).toBe(true);
    expect(live.every(({ text = '' }) => text.isWellFormed())).toBe(true);
  });

  it('what comes behind the answer in the same write is late', async () => {
    const line = update('current_mode_update', { currentModeId: 'after' });
    const { session } = await run(
      async (a) => {
        const { id } = await a.prompted();
        const answer = JSON.stringify({ jsonrpc: '2.0', id, result: { stopReason: 'end_turn' } });
        const [before, after] = a.args as [string, string];
        await a.raw(`${before}\n${answer}\n${after}\n`);
      },
      { script: [chunk('agent_message_chunk', 'before'), line] },
    );
    expect(told((await session.events()).slice(7))).toMatchObject([
      { type: 'assistant.message' },
      { data: { source: 'session/prompt' } },
      raw('late/session/update/current_mode_update', JSON.parse(line) as Json),
      ...ended('completed'),
    ]);
  });

  it('an id is answered as it was written, 64 bits included', async () => {
    const ids = ['9007199254740993', '18446744073709551615', '1.50', '"a\\u00e9"', 'null', '-7'];
    const { agent, end } = await run(
      async (a) => {
        const prompt = await a.prompted();
        for (const id of a.args as string[])
          await a.raw(`{"jsonrpc":"2.0","id":${id},"method":"fs/read_text_file","params":{"id":2}}\n`);
        await a.sleep(50);
        await a.stop(prompt);
      },
      { script: ids },
    );
    expect(end).toEqual({ kind: 'completed' });
    const answered = (await agent.wire()).flatMap(
      (line) => /^{"jsonrpc":"2.0","id":(.*?),"error"/.exec(line)?.[1] ?? [],
    );
    expect(answered).toEqual([...ids.slice(0, 2), '1.5', '"aé"', 'null', '-7']);
  });

  it('an answer that is too large for the log, or that JSON cannot write back, still tells the session: it is loaded', async () => {
    const load = async (a: Agent) => {
      await a.initialize({ loadSession: true });
      const { id, params } = await Promise.race([a.next('session/new'), a.next('session/load')]);
      const { pad, number } = a.args as { pad: number; number: string };
      const result = JSON.stringify({ sessionId: a.session, pad: 'x'.repeat(pad), number: 0 }).replace(
        ':0}',
        `:${number}}`,
      );
      const isLoad = params.sessionId === a.session;
      await a.raw(`{"jsonrpc":"2.0","id":${id},"result":${isLoad ? '{}' : result}}\n`);
      await a.stop(await a.next('session/prompt'));
    };
    for (const script of [
      { pad: 200_000, number: '0' },
      { pad: 0, number: '1e999' },
    ]) {
      const { agent, session } = await run(load, { script });
      expect(await session.prompt('more')).toEqual({ kind: 'completed' });
      expect((await agent.methods()).filter((method) => /new|load/.test(method))).toEqual([
        'session/new',
        'session/load',
      ]);
    }
  });

  it('a process that it left behind outside of its group does not hold the turn open', async () => {
    const { end, session } = await run(async (a) => {
      const { spawn } = await import('node:child_process');
      const prompt = await a.prompted();
      const script = 'i=0; while [ $i -lt 900 ]; do echo still here; sleep 0.1; i=$((i+1)); done';
      const left = spawn('/bin/sh', ['-c', script], { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
      await a.update('session_info_update', { title: String(left.pid) });
      await a.stop(prompt);
    });
    const [{ value } = { value: null }] = (await session.data('harness.raw')).filter(({ source }) =>
      source.endsWith('session_info_update'),
    );
    process.kill(-Number((value as { title: string }).title), 'SIGKILL');
    expect(end).toEqual({ kind: 'completed' });
  });
});

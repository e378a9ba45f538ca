import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { temporaryWorkspace, textOf, type TestWorkspace } from './context.fixture.spec.js';
import { OUTPUT_LIMIT } from './cut-output.js';
import { defineTool, type ToolDefinition } from './define-tool.js';
import { ToolError } from './tool-error.js';
import type { ToolContext, ToolReturn } from './tool.js';

let box: TestWorkspace;
beforeAll(async () => {
  box = await temporaryWorkspace();
});
afterAll(() => box.remove());

const NONE = z.object({});
const toolThat = (
  run: (ctx: ToolContext) => ToolReturn | Promise<ToolReturn>,
  more: Partial<ToolDefinition<Record<string, never>>> = {},
) => defineTool({ name: 'probe', description: 'd', input: NONE, run: (_args, ctx) => run(ctx), ...more });

describe('runTool', () => {
  it('gives text and blocks in order, with output for programs', async () => {
    expect(
      await box.run(
        toolThat(() => 'hello'),
        {},
      ),
    ).toEqual({
      content: [{ type: 'text', text: 'hello' }],
      isError: false,
      durationMs: expect.any(Number),
    });
    const blocks: ToolReturn = [
      { type: 'image', mediaType: 'image/png', base64: 'AAAA' },
      { type: 'json', value: { a: [1] } },
    ];
    expect(
      await box.run(
        toolThat(() => ({ content: blocks, output: { n: 1 } })),
        {},
      ),
    ).toMatchObject({
      content: blocks,
      output: { n: 1 },
    });
  });

  it('makes a throw an error result with name and code', async () => {
    const failing = toolThat(() => {
      throw new ToolError('no_luck', 'It did not work.');
    });
    expect(await box.run(failing, {})).toMatchObject({
      isError: true,
      error: { name: 'ToolError', code: 'no_luck' },
      content: [{ type: 'text', text: 'Error (no_luck): It did not work.' }],
    });
    const rejecting = toolThat(() => Promise.reject(new TypeError('bad')));
    expect((await box.run(rejecting, {})).error).toEqual({ name: 'TypeError', code: 'tool_failed' });
  });

  it('keeps the paths of the host out of errors', async () => {
    for (const path of [`${box.root}/none.txt`, `${box.outside}/none.txt`]) {
      const result = await box.run(
        toolThat(() => readFile(path, 'utf8')),
        {},
      );
      expect(textOf(result)).toBe('Error (ENOENT): ENOENT: no such file or directory');
    }
    const telling = toolThat(() =>
      Promise.reject(new Error(`cannot parse ${box.root}/a/b.json near ${process.cwd()}/dist`)),
    );
    expect(textOf(await box.run(telling, {}))).toBe('Error (tool_failed): cannot parse a/b.json near …/dist');
  });

  it('answers arguments that do not fit with what was expected', async () => {
    const result = await box.run(
      toolThat(() => 'ran'),
      { a: 1 },
    );
    expect(result.error?.code).toBe('invalid_arguments');
    expect(textOf(result)).toContain('unknown key "a"; allowed: none');
  });

  it('ends a tool that heeds the signal at its limit, and keeps what it has to say', async () => {
    const heeding = toolThat(async ({ signal }) => {
      await sleep(60_000, undefined, { signal }).catch(() => undefined);
      return 'got this far';
    });
    const result = await box.run(heeding, {}, { timeoutMs: 50 });
    expect(result).toMatchObject({ isError: true, error: { code: 'timeout' } });
    expect(textOf(result)).toMatch(/^got this far\nError \(timeout\): probe took longer than its limit of 50 ms\.$/);
    expect(result.durationMs).toBeLessThan(30_000);
  });

  it('does not wait for ever for a tool that ignores the signal', async () => {
    const deaf = toolThat(() => new Promise<string>(() => undefined), { timeoutMs: 50 });
    const result = await box.run(deaf, {});
    expect(result.error?.code).toBe('timeout');
    expect(result.durationMs).toBeLessThan(30_000);
  });

  it('tells a cancel from a time limit, and starts nothing that is cancelled already', async () => {
    const cancel = new AbortController();
    const waiting = toolThat(({ signal }) => sleep(60_000, 'x', { signal }));
    setTimeout(() => {
      cancel.abort();
    }, 30);
    expect((await box.run(waiting, {}, { signal: cancel.signal })).error?.code).toBe('aborted');
    let runs = 0;
    const counting = toolThat(() => `${++runs}`);
    expect((await box.run(counting, {}, { signal: cancel.signal })).error?.code).toBe('aborted');
    expect(runs).toBe(0);
  });

  it('cuts long text and long JSON to one limit for all blocks', async () => {
    const long = toolThat(() => [
      { type: 'text', text: 'a'.repeat(200_000) },
      { type: 'json', value: 'b'.repeat(200_000) },
      { type: 'text', text: 'with a \0 in it' },
    ]);
    const { content } = await box.run(long, {});
    expect(Buffer.byteLength(JSON.stringify(content))).toBeLessThan(OUTPUT_LIMIT + 2048);
    expect(textOf({ content })).toMatch(
      /^a+\n\[.* of 200000 bytes cut here.*\]\na+\n"b+\n\[.*\]\nb+"\nwith a ␀ in it$/s,
    );
  });

  it('keeps the whole of text that was cut, unless the tool has an output of its own', async () => {
    const kept: string[] = [];
    const openSink = () => ({
      write: (chunk: Uint8Array) => Promise.resolve(void kept.push(Buffer.from(chunk).toString())),
      end: () => Promise.resolve('digest'),
    });
    const [long, short] = ['é'.repeat(50_000), 'short'];
    const { output } = await box.run(
      toolThat(() => [short, long].map((text) => ({ type: 'text' as const, text }))),
      {},
      { openSink },
    );
    expect(output).toEqual({ truncated: true, totalBytes: 100_000, whole: 'digest' });
    await box.run(
      toolThat(() => short),
      {},
      { openSink },
    );
    await box.run(
      toolThat(() => ({ content: long, output: 7 })),
      {},
      { openSink },
    );
    expect(kept).toEqual([long]);
  });

  it('refuses what a careless tool hands back', async () => {
    const circular: Record<string, unknown> = {};
    circular.self = circular;
    const careless = [
      { content: 'x', output: circular },
      [{ type: 'json', value: 10n }],
      JSON.parse('{"content": 7}'),
      JSON.parse('null'),
    ];
    for (const returned of careless as ToolReturn[])
      expect(
        (
          await box.run(
            toolThat(() => returned),
            {},
          )
        ).error?.code,
      ).toBe('invalid_result');
  });
});

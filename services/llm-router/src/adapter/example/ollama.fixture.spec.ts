import { textOf } from '@jetloop/contracts';
import { z } from 'zod';
import { answersToolRound } from '../../history/answers-tool-round.js';
import { prepareHistory } from '../../history/prepare-history.js';
import type { Adapter, ModelRequest } from '../adapter.js';
import { finishPart } from '../finish.js';
import { AttemptFailure } from '../http/attempt-failure.js';
import { attemptShell } from '../http/attempt-shell.js';
import { jsonOrText } from '../http/json-or-text.js';
import { llmError, providerError } from '../http/provider-error.js';
import { requestFacts } from '../http/request-facts.js';
import type { Upstream } from '../http/upstream.js';
import type { Part } from '../part.js';

const lineSchema = z.object({
  message: z.object({ content: z.string() }).optional(),
  done_reason: z.string().optional(),
  prompt_eval_count: z.number().default(0),
  eval_count: z.number().default(0),
});

/** Ollama's own protocol: a JSON object a line. Text alone; tools and images are left to the reader. */
export class OllamaAdapter implements Adapter {
  attempt(request: ModelRequest, signal: AbortSignal): AsyncGenerator<Part> {
    return attemptShell(request, signal, (upstream) => partsOf(request, upstream));
  }
}

async function* partsOf(request: ModelRequest, upstream: Upstream): AsyncGenerator<Part> {
  const { target, messages, systemPrompt } = request;
  const history = prepareHistory(messages, target, { keepsState: () => false, imagesInResults: false });
  const said = [
    { role: 'system', content: systemPrompt },
    ...history.map(({ role, content }) => ({ role, content: textOf(content) })),
  ];
  const body = JSON.stringify({ model: target.model, messages: said, stream: target.stream });
  const headers = { 'content-type': 'application/json' };
  const head = await upstream.open({ url: `${target.baseUrl ?? 'http://127.0.0.1:11434'}/api/chat`, headers, body });
  if (head.status !== 200) {
    const answer = { ...head, body: jsonOrText(await upstream.readAll(65_536)) };
    throw new AttemptFailure(providerError(answer, requestFacts(request, body.length, undefined), Date.now()));
  }
  const reasons: string[] = [];
  let hasText = false;
  for await (const text of linesOf(upstream)) {
    const line = lineSchema.safeParse(jsonOrText(text));
    if (!line.success) throw new AttemptFailure(llmError('protocol', 'a line is no part of an answer'));
    const { message, done_reason: reason, prompt_eval_count: input, eval_count: output } = line.data;
    if (message && message.content !== '') {
      hasText = true;
      yield { kind: 'text', text: message.content };
    }
    if (reason === undefined) continue;
    reasons.push(reason);
    yield { kind: 'usage', usage: { input, cacheRead: 0, cacheWrite: 0, output } };
  }
  yield finishPart({ reasons, calls: false, refused: false, said: hasText, mayBeEmpty: answersToolRound(messages) });
}

async function* linesOf(upstream: Upstream): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for (let bytes = await upstream.read(); bytes; bytes = await upstream.read()) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    yield* lines;
  }
  if (rest !== '') yield rest;
}

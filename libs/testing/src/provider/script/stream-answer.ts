import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ScriptedAnswer } from './scripted-answer.js';

/** Writes an answer as the chat dialect streams it: deltas, a finish reason, the usage, `[DONE]`. */
export async function streamAnswer(
  response: ServerResponse,
  answer: ScriptedAnswer,
  { model, n }: { readonly model: string; readonly n: number },
): Promise<void> {
  const { after, delayMs = 0, text = [], calls = [], usage = { input: 10, output: 5 }, error } = answer;
  await after;
  if (delayMs > 0) await sleep(delayMs);
  if (error) {
    sendError(response, error.status, error.message ?? 'planned failure', error.code ?? 'planned');
    return;
  }
  const send = (frame: object) => {
    if (!response.destroyed) response.write(`data: ${JSON.stringify({ id: `answer-${n}`, model, ...frame })}\n\n`);
  };
  const delta = (value: object, finish_reason: string | null = null) => {
    send({ choices: [{ index: 0, delta: value, finish_reason }] });
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  delta({ role: 'assistant', content: '' });
  for (const piece of typeof text === 'string' ? [text] : text) {
    if (typeof piece === 'string') delta({ content: piece });
    else await piece;
  }
  for (const [index, { name, arguments: value = {}, id = `call_${n}_${index}` }] of calls.entries()) {
    const raw = typeof value === 'string' ? value : JSON.stringify(value);
    delta({ tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' } }] });
    delta({ tool_calls: [{ index, function: { arguments: raw } }] });
  }
  delta({}, answer.finish ?? (calls.length > 0 ? 'tool_calls' : 'stop'));
  const { input, output } = usage;
  send({
    choices: [],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  });
  response.end('data: [DONE]\n\n');
}

/** An error in the words of the chat dialect. */
export function sendError(response: ServerResponse, status: number, message: string, code: string): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message, type: code, code } }));
}

import { wireAnswer, wireOf, type PlannedResponse, type ReplayDialect, type ResponseStep } from '@jetloop/testing';

/** What a model says, whatever the dialect and the form. */
export interface Said {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments?: string; readonly id?: string }[];
  /** Prompt and completion tokens; default 10 and 5. */
  readonly usage?: readonly [number, number];
  /** Milliseconds before it begins. */
  readonly headPauseMs?: number;
  /** Streamed: it falls silent behind so many pieces of its text, of seven characters each. */
  readonly hangsAfter?: number;
}

/** What is said on the wire, streamed or as a whole body. */
export function saidOn(dialect: ReplayDialect, said: Said, stream: boolean): PlannedResponse {
  const { text, usage: [input, output] = [10, 5], headPauseMs = 0, hangsAfter } = said;
  const usage = { input, output };
  const calls = (said.calls ?? []).map(({ id, name, arguments: given = '{}' }, n) => ({
    id: id ?? `call_${n}`,
    name,
    arguments: given,
  }));
  const finish = calls.length > 0 ? 'tool-calls' : 'stop';
  if (!stream) {
    const answer = { ...(text === undefined ? {} : { text }), calls, finish, usage } as const;
    return { headPauseMs, ...wireAnswer(dialect, answer, false) };
  }
  const wire = wireOf(dialect);
  const pieces = (text?.match(/[^]{1,7}/gu) ?? []).map((piece) => wire.text(piece));
  const rest: ResponseStep[] =
    hangsAfter === undefined ? [...calls.map((call) => wire.call(call)), wire.end(finish, usage)] : ['hang'];
  return { headPauseMs, chunks: [wire.begin(usage), ...pieces.slice(0, hangsAfter), ...rest] };
}

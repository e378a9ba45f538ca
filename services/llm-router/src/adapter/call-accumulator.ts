import { randomUUID } from 'node:crypto';
import type { Part } from './part.js';
import { AttemptFailure } from './http/attempt-failure.js';
import { llmError } from './http/provider-error.js';
import { ObjectScan } from './object-scan.js';

/** A piece of a call as a chat provider sends it. */
export interface CallFragment {
  readonly index?: number | undefined;
  readonly id?: string | undefined;
  readonly name?: string | undefined;
  readonly arguments?: string | undefined;
}

interface OpenCall {
  readonly call: number;
  readonly index: number | undefined;
  /** undefined: the provider gave none. */
  readonly id: string | undefined;
  name: string;
  arguments: string;
  readonly scan: ObjectScan;
}

/**
 * Puts the fragments of the calls of one answer in their place (spec 4.5): a new id opens a call, at a used index too; a
 * fragment without id continues the call of its index, without index the last opened. What could belong to two calls
 * fails, so that no call ever runs with lost or foreign arguments.
 */
export class CallAccumulator {
  private readonly calls: OpenCall[] = [];

  get count(): number {
    return this.calls.length;
  }

  /** @throws AttemptFailure tool_call_assembly */
  add(fragment: CallFragment): Part {
    const id = fragment.id === '' ? undefined : fragment.id;
    const name = fragment.name === '' ? undefined : fragment.name;
    const known = id === undefined ? this.byIndex(fragment.index) : this.byId(id, fragment.index);
    const opened = known ?? this.open(id, fragment.index, name);
    if (known && name !== undefined && name !== known.name) {
      if (known.name !== '' || known.arguments.trim() !== '') throw ambiguous('two names for one call');
      known.name = name;
    }
    const text = fragment.arguments ?? '';
    // Reading all that there is at every fragment would take minutes for a large file.
    const mayBeSecond = opened.scan.isClosed && text.trimStart().startsWith('{');
    if (mayBeSecond && isWhole(opened.arguments)) throw ambiguous('two arguments for one call');
    opened.arguments += text;
    opened.scan.feed(text);
    const head = known ? {} : { id: id ?? `call_${randomUUID()}` };
    return { kind: 'call', call: opened.call, ...head, ...(name === undefined ? {} : { name }), arguments: text };
  }

  /** @throws AttemptFailure tool_call_assembly */
  end(): void {
    if (this.calls.some((call) => call.name === '')) throw ambiguous('a call without a name');
  }

  private byId(id: string, index: number | undefined): OpenCall | undefined {
    const known = this.calls.find((call) => call.id === id);
    if (known && index !== undefined && known.index !== index) throw ambiguous('one id at two indexes');
    return known;
  }

  private byIndex(index: number | undefined): OpenCall | undefined {
    return index === undefined ? this.calls.at(-1) : this.calls.findLast((call) => call.index === index);
  }

  private open(id: string | undefined, index: number | undefined, name: string | undefined): OpenCall {
    // Servers without ids name a call in its first fragment; anything else is the rest of a call that never began.
    if (id === undefined && name === undefined) throw ambiguous('a fragment of a call that was not opened');
    const opened: OpenCall = {
      call: this.calls.length,
      index,
      id,
      name: name ?? '',
      arguments: '',
      scan: new ObjectScan(),
    };
    this.calls.push(opened);
    return opened;
  }
}

/** A complete JSON object: more of one behind it belongs to another call. */
function isWhole(text: string): boolean {
  if (!text.trimEnd().endsWith('}')) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false; // a brace inside the arguments, and more of them to come
  }
}

function ambiguous(what: string): AttemptFailure {
  return new AttemptFailure(llmError('tool_call_assembly', `the calls of the answer cannot be told apart: ${what}`));
}

import type { ContentBlock, FinishReason, HarnessEvent, Json } from '@jetloop/contracts';
import type { OpenMessage, Piece, Step, Stream, Translation } from './translation.js';
import type { Chunk } from './chunk.js';

/** Bytes after which a message ends, whatever the agent says. */
export const MAX_MESSAGE_BYTES = 1024 * 1024;
const EMPTY = { blocks: [], text: '', meta: [], size: 0 } as const;
const deltaKinds = { agent: 'text', thought: 'reasoning' } as const;

/** Adds a chunk to the message of its stream: a live delta now, one durable message at the boundary (spec 6.2). */
export function addChunk(state: Translation, stream: Stream, chunk: Chunk): Step {
  const open = state.streams[stream];
  const isOther = open !== undefined && chunk.messageId !== undefined && chunk.messageId !== open.messageId;
  const isFull = open !== undefined && open.size + chunk.size > MAX_MESSAGE_BYTES;
  const before = isOther || isFull ? closeStream(state, stream, 'stop') : { state, pieces: [] };
  const current = before.state.streams[stream] ?? { ...EMPTY, messageId: chunk.messageId };
  // An id that comes later names the whole message: nothing said that another one began.
  const next = append({ ...current, messageId: chunk.messageId ?? current.messageId }, chunk);
  const after = { ...before.state, streams: { ...before.state.streams, [stream]: next } };
  const live: Piece[] =
    stream === 'user' || chunk.text === undefined
      ? []
      : [{ delta: { kind: deltaKinds[stream], text: chunk.text, ...idOf(chunk.messageId) } }];
  return { state: after, pieces: [...before.pieces, ...live] };
}

/** Ends the open message of a stream, if there is one. */
export function closeStream(state: Translation, stream: Stream, finishReason: FinishReason): Step {
  const { [stream]: open, ...streams } = state.streams;
  if (!open) return { state, pieces: [] };
  return { state: { ...state, streams }, pieces: [messageOf(state, stream, open, finishReason)] };
}

/** Ends all open messages, in the order in which they began. */
export function closeMessages(state: Translation, finishReason: FinishReason): Step {
  let current = state;
  const pieces: Piece[] = [];
  for (const stream of Object.keys(state.streams) as Stream[]) {
    const closed = closeStream(current, stream, finishReason);
    current = closed.state;
    pieces.push(...closed.pieces);
  }
  return { state: current, pieces };
}

function append(open: OpenMessage, chunk: Chunk): OpenMessage {
  const meta = chunk.rest === undefined ? open.meta : [...open.meta, chunk.rest];
  const size = open.size + chunk.size;
  if (chunk.text !== undefined) return { ...open, text: open.text + chunk.text, meta, size };
  const blocks = [...open.blocks, ...textBlock(open.text), ...(chunk.block ? [chunk.block] : [])];
  return { ...open, blocks, text: '', meta, size };
}

function messageOf(state: Translation, stream: Stream, open: OpenMessage, finishReason: FinishReason): HarnessEvent {
  const blocks = [...open.blocks, ...textBlock(open.text)];
  const content = stream === 'thought' ? blocks.map(asReasoning) : blocks;
  const { turn, step } = state;
  const meta: { meta?: Json[] } = open.meta.length > 0 ? { meta: [...open.meta] } : {};
  if (stream === 'user')
    return { type: 'user.message', data: { turn, content, source: { kind: 'harness', name: 'acp' }, ...meta } };
  const unknown = { model: null, usage: null, cost: null, attempts: [] };
  return { type: 'assistant.message', data: { turn, step, content, finishReason, ...unknown, ...meta } };
}

function textBlock(text: string): ContentBlock[] {
  return text === '' ? [] : [{ type: 'text', text }];
}

function asReasoning(block: ContentBlock): ContentBlock {
  return block.type === 'text' ? { type: 'reasoning', text: block.text } : block;
}

function idOf(messageId: string | undefined): { messageId?: string } {
  return messageId === undefined ? {} : { messageId };
}

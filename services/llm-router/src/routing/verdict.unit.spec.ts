import { describe, expect, it } from '@jest/globals';
import type { ContentBlock } from '@jetloop/contracts';
import type { Assembled } from '../adapter/assemble.js';
import { verdictOf } from './verdict.js';

const text: ContentBlock = { type: 'text', text: 'yes' };
const call: ContentBlock = { type: 'tool-call', id: 'c', name: 't', arguments: '{}' };

function said(content: ContentBlock[], end: Assembled['end']): Assembled {
  return { content, end, usage: undefined, model: { target: 'a', provider: 'test', model: 'm' } };
}

describe('verdictOf', () => {
  it('needs the protocol to say that the answer is complete', () => {
    expect(verdictOf(said([text], undefined), false)).toMatchObject({ error: { code: 'incomplete_stream' } });
  });

  it('makes a stop with calls `tool-calls`, and lets calls override neither a cut nor a filter', () => {
    expect(verdictOf(said([text, call], { finish: 'stop' }), false)).toEqual({ finish: 'tool-calls' });
    expect(verdictOf(said([call], { finish: 'max-tokens' }), false)).toEqual({ finish: 'max-tokens' });
    expect(verdictOf(said([call], { finish: 'content-filter' }), false)).toEqual({ finish: 'content-filter' });
  });

  it('takes announced calls that did not come for an error', () => {
    expect(verdictOf(said([text], { finish: 'tool-calls' }), false)).toMatchObject({
      error: { code: 'tool_call_assembly' },
    });
  });

  it('takes nothing at all for an error, except after a tool round of the turn', () => {
    expect(verdictOf(said([], { finish: 'stop' }), false)).toMatchObject({ error: { code: 'empty_response' } });
    expect(verdictOf(said([], { finish: 'stop' }), true)).toEqual({ finish: 'stop' });
  });

  it('takes a filtered answer without a word for an answer', () => {
    expect(verdictOf(said([], { finish: 'content-filter' }), false)).toEqual({ finish: 'content-filter' });
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import type { LiveDelta } from '@jetloop/contracts';
import type { LiveChannel } from '@jetloop/messaging';
import { LiveDeltas } from './live-deltas.js';
import { Together } from './together.js';

class RecordingChannel implements Pick<LiveChannel, 'publish'> {
  readonly deltas: LiveDelta[] = [];

  readonly publish: LiveChannel['publish'] = (_kind, _tenant, _session, value) => {
    if ('kind' in value) this.deltas.push(value);
  };

  get said(): string[] {
    return this.deltas.map(({ attemptId, n, kind, text }) => [attemptId, n, kind, text].join(' ').trim());
  }
}

const where = { tenant: 't', session: 's', turn: 1, step: 2 };

describe('LiveDeltas', () => {
  it('sends the first piece at once and joins the later ones', async () => {
    const channel = new RecordingChannel();
    const live = new LiveDeltas(channel, where, new Together());
    live.part('x', { kind: 'text', text: 'a' });
    expect(channel.said).toEqual(['x 0 text a']);
    live.part('x', { kind: 'text', text: 'b' });
    live.part('x', { kind: 'text', text: 'c' });
    expect(channel.said).toHaveLength(1);
    await sleep(60);
    expect(channel.said).toEqual(['x 0 text a', 'x 1 text bc']);
    expect(channel.deltas[1]).toMatchObject({ turn: 1, step: 2 });
  });

  it('sends what several streams say in one moment together, each once', async () => {
    const channel = new RecordingChannel();
    const together = new Together();
    const streams = ['x', 'y', 'z'].map((id) => ({ id, live: new LiveDeltas(channel, where, together) }));
    for (const text of ['a', 'b', 'c']) for (const { id, live } of streams) live.part(id, { kind: 'text', text });
    streams[2]?.live.end('z');
    expect(channel.said.splice(0)).toEqual(['x 0 text a', 'y 0 text a', 'z 0 text a', 'z 1 text bc', 'z 2 end']);
    channel.deltas.splice(0);
    await sleep(60);
    expect(channel.said).toEqual(['x 1 text bc', 'y 1 text bc']);
    await sleep(60);
    expect(channel.deltas).toHaveLength(2);
  });

  it('joins only what is of one kind, in order', () => {
    const channel = new RecordingChannel();
    const live = new LiveDeltas(channel, where, new Together());
    live.part('x', { kind: 'reasoning', text: 'hm' });
    live.part('x', { kind: 'reasoning', text: '.' });
    live.part('x', { kind: 'text', text: 'so' });
    live.part('x', { kind: 'call', call: 0, id: 'c', name: 'grep', arguments: '' });
    live.part('x', { kind: 'call', call: 0, arguments: '{}' });
    live.end('x');
    expect(channel.said).toEqual([
      'x 0 reasoning hm',
      'x 1 reasoning .',
      'x 2 text so',
      'x 3 tool-call grep',
      'x 4 end',
    ]);
  });

  it('resets a superseded attempt behind all that it said, and numbers each attempt from 0', () => {
    const channel = new RecordingChannel();
    const live = new LiveDeltas(channel, where, new Together());
    live.part('x', { kind: 'text', text: 'a' });
    live.part('x', { kind: 'text', text: 'b' });
    live.reset('x');
    live.part('y', { kind: 'text', text: 'c' });
    live.end('y');
    expect(channel.said).toEqual(['x 0 text a', 'x 1 text b', 'x 2 reset', 'y 0 text c', 'y 1 end']);
  });

  it('says nothing for what nobody sees', () => {
    const channel = new RecordingChannel();
    const live = new LiveDeltas(channel, where, new Together());
    live.part('x', { kind: 'lifecycle' });
    live.part('x', { kind: 'text', text: '' });
    expect(channel.said).toEqual([]);
  });
});

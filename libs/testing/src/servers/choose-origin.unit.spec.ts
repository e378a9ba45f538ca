import { describe, expect, it } from '@jest/globals';
import { chooseOrigin } from './choose-origin.js';

describe('chooseOrigin', () => {
  it('takes a given address before everything else', () => {
    const env = { NATS_URL: 'nats://elsewhere:4222', JETLOOP_INFRA: 'containers' };
    expect(chooseOrigin(env, 'NATS_URL')).toEqual({ from: 'given', url: 'nats://elsewhere:4222' });
  });

  it('decides for each server on its own', () => {
    const env = { NATS_URL: 'nats://elsewhere:4222', JETLOOP_INFRA: 'containers' };
    expect(chooseOrigin(env, 'DATABASE_URL')).toEqual({ from: 'containers' });
  });

  it('is embedded when nothing is said, and an empty variable says nothing', () => {
    expect(chooseOrigin({}, 'NATS_URL')).toEqual({ from: 'embedded' });
    expect(chooseOrigin({ NATS_URL: '', JETLOOP_INFRA: '' }, 'NATS_URL')).toEqual({ from: 'embedded' });
  });

  it('refuses a word that it does not know', () => {
    expect(() => chooseOrigin({ JETLOOP_INFRA: 'docker' }, 'NATS_URL')).toThrow('JETLOOP_INFRA is "docker"');
  });
});

import { describe, expect, it } from '@jest/globals';
import { isSupportedNatsVersion, parseNatsVersion } from './nats-version.js';

describe('parseNatsVersion', () => {
  it('reads releases and previews', () => {
    expect(parseNatsVersion('nats-server: v2.15.1\n')).toBe('2.15.1');
    expect(parseNatsVersion('nats-server: v2.12.0-RC.3')).toBe('2.12.0-RC.3');
    expect(parseNatsVersion('nats-server: 2.14.0+ds')).toBe('2.14.0+ds');
  });

  it('finds nothing in the output of another program', () => {
    expect(parseNatsVersion('usage: nats [flags]')).toBeUndefined();
  });
});

describe('isSupportedNatsVersion', () => {
  it.each(['2.12.0', '2.12.0-RC.3', '2.15.1', '3.0.0'])('%s is new enough', (version) => {
    expect(isSupportedNatsVersion(version)).toBe(true);
  });

  it.each(['2.11.9', '2.9.22', '1.20.0'])('%s is too old', (version) => {
    expect(isSupportedNatsVersion(version)).toBe(false);
  });
});

import { describe, expect, it } from '@jest/globals';
import { natsConfigText } from './nats-config.js';

describe('natsConfigText', () => {
  it('needs no password and sets no payload limit by default', () => {
    const text = natsConfigText({ host: '127.0.0.1', port: -1, storeFolder: '/data/my store', accounts: 0 });
    expect(text).toBe('host: "127.0.0.1"\nport: -1\njetstream {\n  store_dir: "/data/my store"\n}\n');
  });

  it('adds lines to the block of JetStream', () => {
    const config = { host: '127.0.0.1', port: -1, storeFolder: '/data', accounts: 0 };
    const text = natsConfigText({ ...config, jetStream: ['sync_interval: always'] });
    expect(text).toContain('jetstream {\n  store_dir: "/data"\n  sync_interval: always\n}\n');
  });

  it('gives every account JetStream and a user of its own', () => {
    const text = natsConfigText({ host: '127.0.0.1', port: -1, storeFolder: '/data', accounts: 2 });
    expect(text).toContain('  T1 { jetstream: enabled, users: [{ user: t1, password: t1 }] }\n');
    expect(text).toContain('  T2 { jetstream: enabled, users: [{ user: t2, password: t2 }] }\n');
    expect(text).not.toContain('T3');
  });
});

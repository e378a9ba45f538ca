import { createDatabase, createKysely, dropDatabase } from '@jetloop/persistence';
import { describe, expect, it } from '@jest/globals';
import { testServers } from './test-servers.js';

describe('testServers', () => {
  it('gives every caller a NATS account, a database and a tenant of its own', async () => {
    const [one, two] = await Promise.all([testServers(), testServers()]);
    try {
      expect(one.tenant).not.toBe(two.tenant);
      expect(one.databaseUrl).not.toBe(two.databaseUrl);
      if (process.env.NATS_URL === undefined) expect(one.natsUrl).not.toBe(two.natsUrl);
    } finally {
      await Promise.all([one.stop(), two.stop()]);
    }
  });

  it('gives a migrated, empty database', async () => {
    const servers = await testServers();
    const database = createKysely(servers.databaseUrl);
    try {
      expect(await database.selectFrom('sessions').selectAll().execute()).toEqual([]);
    } finally {
      await database.destroy();
      await servers.stop();
    }
  });

  it('drops the database at the end', async () => {
    const servers = await testServers();
    const { pathname } = new URL(servers.databaseUrl);
    await servers.stop();
    // The name is free again: a database of that name can be created.
    const name = pathname.slice(1);
    const url = await createDatabase(servers.databaseUrl.replace(pathname, '/postgres'), name);
    expect(new URL(url).pathname).toBe(pathname);
    await dropDatabase(servers.databaseUrl.replace(pathname, '/postgres'), name);
  });
});

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { testServers, type TestServers } from '@jetloop/testing';
import { createDatabase, dropDatabase, migrate, MigrationError, runAuditQuery } from './index.js';

describe('migrate', () => {
  let servers: TestServers;
  const names: string[] = [];
  const database = async (template?: string): Promise<string> => {
    const name = `${new URL(servers.databaseUrl).pathname.slice(1)}_${names.length}`;
    names.push(name);
    return createDatabase(servers.databaseUrl, name, template);
  };

  beforeAll(async () => {
    servers = await testServers();
  });
  afterAll(async () => {
    for (const name of names) await dropDatabase(servers.databaseUrl, name);
    await servers.stop();
  });

  it('makes every table and column with a comment, and every key begins with the tenant', async () => {
    const { rows: columns } = await runAuditQuery(
      servers.databaseUrl,
      `select c.relname || coalesce('.' || a.attname, ''), length(coalesce(d.description, '')) > 10
       from pg_class c join pg_namespace n on n.oid = c.relnamespace
       left join pg_attribute a on a.attrelid = c.oid and a.attnum > 0
       left join pg_description d on d.objoid = c.oid and d.objsubid = coalesce(a.attnum, 0)
       where n.nspname = 'jetloop' and c.relkind = 'r' and c.relname not like 'migration%'`,
    );
    expect(columns.length).toBeGreaterThan(100);
    expect(columns.filter(([, hasComment]) => hasComment !== true)).toEqual([]);
    const { rows: tables } = await runAuditQuery(
      servers.databaseUrl,
      `select c.relname, length(coalesce(obj_description(c.oid), '')) > 10, a.attname
       from pg_class c join pg_index i on i.indrelid = c.oid and i.indisprimary
       join pg_attribute a on a.attrelid = c.oid and a.attnum = i.indkey[0]
       where c.relnamespace = 'jetloop'::regnamespace and c.relname not like 'migration%' order by 1`,
    );
    const byTenant = ['events', 'messages', 'model_attempts', 'policy_decisions'];
    const rest = ['quarantine', 'sessions', 'tool_calls', 'turns'];
    expect(tables).toEqual([
      ...byTenant.map((name) => [name, true, 'tenant']),
      ['position', true, 'projection'],
      ...rest.map((name) => [name, true, 'tenant']),
    ]);
  });

  it('may run in several processes at once, and again', async () => {
    const url = await database();
    await Promise.all([migrate(url), migrate(url), migrate(url)]);
    await migrate(url);
    const { rows } = await runAuditQuery(url, 'select name from migration');
    expect(rows).toEqual([
      ['2026-11-30-audit'],
      ['2026-11-30-room-for-updates'],
      ['2026-11-30-sessions-missing-events'],
    ]);
  });

  it('refuses a database that a newer build has migrated', async () => {
    const url = await database();
    await migrate(url);
    const { createDatabasePool } = await import('./index.js');
    const pool = createDatabasePool(url);
    await pool.query(`insert into migration (name, timestamp) values ('2999-01-01-future', '2999-01-01')`);
    await pool.end();
    await expect(migrate(url)).rejects.toThrow(MigrationError);
    await expect(migrate(url)).rejects.toThrow(/2999-01-01-future/);
  });

  it('databases are copied from a template, dropped while in use, and named safely', async () => {
    const template = await database();
    await migrate(template);
    const copy = await database(new URL(template).pathname.slice(1));
    const { createKysely } = await import('./index.js');
    const db = createKysely(copy);
    expect(await db.selectFrom('sessions').selectAll().execute()).toEqual([]);
    await dropDatabase(servers.databaseUrl, new URL(copy).pathname.slice(1));
    await expect(db.selectFrom('sessions').selectAll().execute()).rejects.toThrow();
    await db.destroy();
    await expect(createDatabase(servers.databaseUrl, 'x"; drop table y; --')).rejects.toThrow(/cannot name a database/);
  });
});

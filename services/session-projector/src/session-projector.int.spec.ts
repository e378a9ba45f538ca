import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { isKnownEvent, subjects, toCloudEvents, type Commit } from '@jetloop/contracts';
import { Bus, Journal, topologyOf } from '@jetloop/messaging';
import { MessagingModule } from '@jetloop/messaging/nest';
import { runAuditQuery } from '@jetloop/persistence';
import { testServers, type TestServers } from '@jetloop/testing';
import { Test, type TestingModule } from '@nestjs/testing';
import { scriptedSession } from './fixtures/journal-script.fixture.spec.js';
import { ProjectorService, SessionProjectorModule, UnfolderService } from './index.js';

describe('session-projector over NATS and PostgreSQL', () => {
  let servers: TestServers;
  let bus: Bus;
  const apps: TestingModule[] = [];

  const startReplica = async (databaseUrl = servers.databaseUrl): Promise<TestingModule> => {
    const module = await Test.createTestingModule({
      imports: [MessagingModule.forBus(bus), SessionProjectorModule.register({ databaseUrl, migrate: true })],
    }).compile();
    apps.push(module);
    return module.init();
  };

  beforeAll(async () => {
    servers = await testServers();
    bus = await Bus.connect({ url: servers.natsUrl, name: 'session-projector-test' });
    // What the service and its module work with; they need no COMMANDS.
    const streams = topologyOf().streams.filter(({ name }) => name !== 'COMMANDS');
    for (const stream of streams) await bus.api(`STREAM.CREATE.${stream.name}`, stream);
  });
  afterAll(async () => {
    await Promise.all(apps.map((app) => app.close()));
    await bus.close();
    await servers.stop();
  });

  const commitAll = async (session: string): Promise<{ commits: Commit[]; last: number }> => {
    const { tenant } = servers;
    const commits = scriptedSession().entries.flatMap((entry) =>
      'commit' in entry ? [{ ...entry.commit, tenant, session }] : [],
    );
    let last = 0;
    for (const commit of commits) {
      const stored = await new Journal(bus).commit(commit, last);
      if (stored === 'lost') throw new Error('another writer was first');
      last = stored;
    }
    return { commits, last };
  };

  const publicEvents = async (session: string): Promise<unknown[]> => {
    const subscriber = bus.nats.jetstream();
    const consumer = await subscriber.consumers.get('EVENTS', { filterSubjects: `evt.${servers.tenant}.${session}.>` });
    const { num_pending: count } = await consumer.info();
    const events: unknown[] = [];
    if (count === 0) return events;
    for await (const message of await consumer.fetch({ max_messages: count, expires: 2_000 })) {
      const event = message.json<{ type: string }>();
      const type = event.type.slice('jetloop.'.length);
      expect(message.subject).toBe(subjects.event(servers.tenant, session, type));
      events.push(event);
    }
    return events;
  };

  it('brings the journal to SQL and to the public stream, with two replicas, each event once', async () => {
    const replicas = [await startReplica(), await startReplica()];
    const { commits, last } = await commitAll('s1');
    for (const replica of replicas) await replica.get(ProjectorService).waitForProjection(last);
    const expected = commits.flatMap(toCloudEvents);
    for (let tries = 0; tries < 1_000 && (await publicEvents('s1')).length < expected.length; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await publicEvents('s1')).toEqual(expected);
    const { rows } = await runAuditQuery(servers.databaseUrl, `select type from events order by seq`);
    expect(rows.flat()).toEqual(commits.flatMap(({ events }) => events.map(({ type }) => type)));
    expect(commits.every(({ events }) => events.every(isKnownEvent))).toBe(true);
    const statuses = replicas.map((replica) => replica.get(ProjectorService).state().status);
    expect(statuses.sort()).toEqual(['projecting', 'standby']);
  });

  it('unfolds the public stream while PostgreSQL is away', async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    const replica = await startReplica('postgres://nobody@127.0.0.1:1/none');
    const { commits } = await commitAll('s2');
    const expected = commits.flatMap(toCloudEvents);
    for (let tries = 0; tries < 1_000 && (await publicEvents('s2')).length < expected.length; tries += 1)
      await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await publicEvents('s2')).toEqual(expected);
    expect(replica.get(UnfolderService).state()).toEqual({ status: 'unfolding' });
    expect(replica.get(ProjectorService).state().status).toBe('waiting');
    await expect(replica.get(ProjectorService).waitForProjection(1, 100)).rejects.toThrow();
  });

  it('says what SQL lacks when the wait is over', async () => {
    await Promise.all(apps.splice(0).map((app) => app.close()));
    const replica = await startReplica();
    const { last } = await new Journal(bus).last(servers.tenant, 's2').then((sequence) => ({ last: sequence }));
    await replica.get(ProjectorService).waitForProjection(last);
    await expect(replica.get(ProjectorService).waitForProjection(last + 1, 100)).rejects.toThrow(
      `SQL is at ${last} of ${last + 1} after 100 ms (projector: projecting)`,
    );
  });
});

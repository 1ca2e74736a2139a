import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../../deploy/local/cluster/pod.ts';
import type { Api, Json } from '../../contract/api.ts';
import { installPlatform } from '../platform.ts';
import { podsOf, restartsOf } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';

/** How long a service may take to say that its database is away. */
const AT_ONCE_MS = 1_000;
/** How long it may take to use it again. */
const BACK_MS = 2_000;

/** The database dies; the services live on, say so, and come back by themselves. */
export const database: Scenario = {
  name: 'database',
  title:
    'while PostgreSQL is killed users answers 503 at once, restarts nowhere, and is back within 2 s of it',
  seconds: 300,
  async run(world) {
    const { cluster, space, say } = world;
    const where = { cluster, namespace: space.name };
    await provideVolumes(world, 1);
    const { target } = await installPlatform(world, {
      postgres: { storage: { ephemeral: false } },
    });
    const { api } = target;
    const acknowledged = await createUser(api);

    say('killing PostgreSQL');
    await scalePostgres(world, 0);
    await waitFor({ cluster, what: 'an answer of 503', seconds: 10, everyMs: 50 }, async () => {
      return (await timed(api)).status === 503 || undefined;
    });
    const away = await Promise.all(Array.from({ length: 20 }, () => timed(api)));
    for (const { status, elapsedMs } of away) {
      assert.equal(status, 503, `answered ${status}`);
      assert.ok(elapsedMs < AT_ONCE_MS, `answered after ${elapsedMs} ms`);
    }
    say(`answered 503 within ${Math.max(...away.map(({ elapsedMs }) => elapsedMs))} ms`);
    // Long enough for a probe that looks at the database to have the pods started anew.
    await sleep(35_000, undefined, { signal: cluster.signal });

    say('bringing PostgreSQL back');
    await scalePostgres(world, 1);
    const returned = await waitFor(
      { cluster, what: 'PostgreSQL to take connections', seconds: 60, everyMs: 100 },
      async () => {
        const [pod] = await podsOf(where, 'postgres');
        return pod && isReady(pod) ? Date.now() : undefined;
      },
    );
    await waitFor(
      { cluster, what: 'users to use it again', seconds: 20, everyMs: 50 },
      async () => {
        return (await timed(api)).status === 200 || undefined;
      },
    );
    const backMs = Date.now() - returned;
    say(`back ${backMs} ms after PostgreSQL was seen to be ready`);
    assert.ok(backMs <= BACK_MS, `back after ${backMs} ms, expected ${BACK_MS} or less`);
    const kept = await api.get(`/api/v1/users/${acknowledged}`);
    assert.equal(kept.status, 200, await kept.text());
    for (const part of ['users', 'catalog', 'reports']) {
      assert.equal(restartsOf(await podsOf(where, part)), 0, `${part} was started anew`);
    }
  },
};

/** Creates a user, and gives the id that was acknowledged. */
export async function createUser(api: Api): Promise<string> {
  const email = `${crypto.randomUUID()}@example.org`;
  const response = await api.send('POST', '/api/v2/users', { name: 'Kept', email });
  assert.equal(response.status, 201, await response.clone().text());
  return ((await response.json()) as Json).data.id;
}

async function timed(api: Api): Promise<{ status: number; elapsedMs: number }> {
  const start = Date.now();
  const response = await api.get('/api/v1/users?page=1&limit=1', { connection: 'close' });
  await response.arrayBuffer();
  return { status: response.status, elapsedMs: Date.now() - start };
}

async function scalePostgres({ cluster, space }: World, replicas: number): Promise<void> {
  await cluster.kubectl([
    ...['scale', 'statefulset/fw-postgres', `--replicas=${replicas}`, '--namespace', space.name],
  ]);
  if (replicas > 0) return;
  await cluster.kubectl([
    ...['delete', 'pod', 'fw-postgres-0', '--namespace', space.name],
    ...['--force', '--grace-period=0', '--ignore-not-found', '--request-timeout=0'],
  ]);
}

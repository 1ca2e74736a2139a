import assert from 'node:assert/strict';

import { installPlatform } from '../platform.ts';
import { podsOf, restartsOf, scale, waitForPods, waitForRollout } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';
import { createUser } from '../users.ts';

/** A migration of a later release, which only adds columns and tables. */
const LATER_MIGRATION = `
  ALTER TABLE users ADD COLUMN nickname text;
  INSERT INTO users_migrations (version) SELECT max(version) + 1 FROM users_migrations;
`;

scenario({
  name: 'migrations',
  title:
    'one of four pods that start at once migrates, and old pods work with the schema of a later release',
  seconds: 300,
  async run(world) {
    const { cluster, namespace, log } = world;
    const { api } = await installPlatform(world, {
      users: { replicaCount: 4 },
      catalog: { enabled: false },
      reports: { enabled: false },
    });

    log('starting four pods at once on an empty database');
    await scale(world, 'deployment/fw-users', 0);
    await waitForPods(world, { part: 'users', count: 0 });
    await sql(world, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await scale(world, 'deployment/fw-users', 4);
    await waitForPods(world, { part: 'users', count: 4 });
    const versions = await sql(world, 'SELECT version FROM users_migrations ORDER BY 1');
    log(`each migration ran once: ${versions.join(', ')}`);
    assert.deepEqual(
      versions,
      versions.map((_, index) => String(index + 1)),
    );
    const transactions = await sql(world, 'SELECT DISTINCT xmin FROM users_migrations');
    assert.equal(transactions.length, 1, 'the migrations are one transaction');

    log('migrating to the schema of a later release');
    const before = await createUser(api);
    await sql(world, LATER_MIGRATION);
    assert.equal((await api.get(`/api/v1/users/${before}`)).status, 200);
    await createUser(api);

    log('starting old pods on the later schema');
    await cluster.kubectl(['rollout', 'restart', 'deployment/fw-users', '--namespace', namespace]);
    await waitForRollout(world, 'fw-users');
    await waitForPods(world, { part: 'users', count: 4 });
    assert.equal((await api.get(`/api/v2/users/${before}`)).status, 200);
    await createUser(api);
    assert.equal(restartsOf(await podsOf(world, 'users')), 0);
  },
});

/** Runs SQL in the bundled PostgreSQL, and returns its rows. */
async function sql({ cluster, namespace }: World, text: string): Promise<string[]> {
  const options = '--no-align --tuples-only --quiet --set=ON_ERROR_STOP=1';
  const psql = `psql --host=127.0.0.1 --username=fw --dbname=fw ${options} --command "$1"`;
  const withPassword = `PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") ${psql}`;
  const rows = await cluster.kubectl([
    ...['exec', 'fw-postgres-0', '--container=postgres', '--namespace', namespace, '--'],
    ...['sh', '-c', withPassword, 'sh', text],
  ]);
  return rows.trim().split('\n');
}

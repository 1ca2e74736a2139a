import assert from 'node:assert/strict';

import { installPlatform } from '../platform.ts';
import { podsOf, restartsOf, waitForPods } from '../rollouts.ts';
import type { Scenario, World } from '../scenario.ts';
import { createUser } from './database.ts';

/** What a release of tomorrow would do to the tables: the expanding half of a change. */
const TOMORROW = `
  ALTER TABLE users ADD COLUMN nickname text;
  INSERT INTO users_migrations (version) SELECT max(version) + 1 FROM users_migrations;
`;

/** Many pods start at once on an empty database; later, old ones work on the tables of tomorrow. */
export const migrations: Scenario = {
  name: 'migrations',
  title:
    'of four pods that start at once one migrates, and old pods answer on the schema of tomorrow',
  seconds: 300,
  async run(world) {
    const { cluster, space, say } = world;
    const where = { cluster, namespace: space.name };
    const { target } = await installPlatform(world, {
      users: { replicaCount: 4 },
      catalog: { enabled: false },
      reports: { enabled: false },
    });

    say('starting four pods at once on an empty database');
    await scale(world, 0);
    await waitForPods(where, { part: 'users', count: 0 });
    await sql(world, 'DROP SCHEMA public CASCADE; CREATE SCHEMA public');
    await scale(world, 4);
    await waitForPods(where, { part: 'users', count: 4 });
    const versions = lines(await sql(world, 'SELECT version FROM users_migrations ORDER BY 1'));
    say(`each migration is there once: ${versions.join(', ')}`);
    assert.deepEqual(
      versions,
      versions.map((_, index) => String(index + 1)),
    );
    const transactions = lines(await sql(world, 'SELECT DISTINCT xmin FROM users_migrations'));
    assert.equal(transactions.length, 1, 'the migrations are of several transactions');

    say('changing the tables as the next release would');
    const before = await createUser(target.api);
    await sql(world, TOMORROW);
    assert.equal((await target.api.get(`/api/v1/users/${before}`)).status, 200);
    await createUser(target.api);

    say('starting old pods on them');
    await cluster.kubectl(['rollout', 'restart', 'deployment/fw-users', '--namespace', space.name]);
    await cluster.kubectl([
      ...['rollout', 'status', 'deployment/fw-users', '--namespace', space.name],
      ...['--timeout=120s', '--request-timeout=0'],
    ]);
    await waitForPods(where, { part: 'users', count: 4 });
    assert.equal((await target.api.get(`/api/v2/users/${before}`)).status, 200);
    await createUser(target.api);
    assert.equal(restartsOf(await podsOf(where, 'users')), 0);
  },
};

async function scale({ cluster, space }: World, replicas: number): Promise<void> {
  await cluster.kubectl([
    ...['scale', 'deployment/fw-users', `--replicas=${replicas}`, '--namespace', space.name],
  ]);
}

/** Runs SQL in the bundled PostgreSQL, and gives its rows. */
function sql({ cluster, space }: World, text: string): Promise<string> {
  const options = '--no-align --tuples-only --quiet --set=ON_ERROR_STOP=1';
  const psql = `psql --host=127.0.0.1 --username=fw --dbname=fw ${options} --command "$1"`;
  const withPassword = `PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") ${psql}`;
  return cluster.kubectl([
    ...['exec', 'fw-postgres-0', '--container=postgres', '--namespace', space.name, '--'],
    ...['sh', '-c', withPassword, 'sh', text],
  ]);
}

function lines(text: string): string[] {
  return text.trim().split('\n');
}

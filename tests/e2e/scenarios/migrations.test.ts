import assert from 'node:assert/strict';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { restart } from '../changes.ts';
import { installPlatform } from '../platform.ts';
import { podsOf, restartsOf, scale, waitForPods } from '../pods.ts';
import { scenario } from '../scenario.ts';
import { sql } from '../sql.ts';
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
    const { log } = world;
    const { api } = await installPlatform(world, {
      ...Object.fromEntries(SERVICE_NAMES.map((name) => [name, { enabled: false }])),
      users: { enabled: true, replicaCount: 4 },
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
    await restart(world, ['fw-users']);
    await waitForPods(world, { part: 'users', count: 4 });
    assert.equal((await api.get(`/api/v2/users/${before}`)).status, 200);
    await createUser(api);
    assert.equal(restartsOf(await podsOf(world, 'users')), 0);
  },
});

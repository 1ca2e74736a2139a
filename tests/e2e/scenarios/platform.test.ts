import assert from 'node:assert/strict';

import { merge } from '../../../deploy/local/cluster/values.ts';
import { readJson } from '../../api/requests.ts';
import { checkSystem } from '../../check-system.ts';
import { waitForLeftovers } from '../leftovers.ts';
import { installPlatform, type Platform } from '../platform.ts';
import { scenario, type World } from '../scenario.ts';
import { createUser } from '../users.ts';
import { provideVolumes } from '../volumes.ts';

const PERSISTENT = { postgres: { storage: { ephemeral: false } } };
const CHANGED = { users: { config: { LOG_LEVEL: 'error' } }, reports: { replicaCount: 3 } };

scenario({
  name: 'platform',
  title:
    'the platform installs, passes the contract and smoke tests, upgrades, rolls back and uninstalls',
  seconds: 420,
  async run(world) {
    const { cluster, namespace, log } = world;
    await provideVolumes(world);
    const installed = await installPlatform(world, PERSISTENT);
    const { release, values, api } = installed;

    log('running the contract and smoke tests through the edge');
    await checkSystem(installed, cluster.signal);
    log('running helm test');
    await release.test();
    const id = await createUser(api);

    log('upgrading to the same values, which keeps every pod');
    const pods = await podNames(world);
    await release.upgrade(values);
    assert.deepEqual(await podNames(world), pods);

    log('upgrading to another configuration');
    await release.upgrade(merge(values, CHANGED));
    assert.equal(await logLevel(world), 'error');
    assert.equal(await readyReplicas(world, 'reports'), 3);
    await assertServes(installed, id);

    log('rolling back');
    await release.rollback(1);
    assert.equal(await logLevel(world), 'info');
    assert.equal(await readyReplicas(world, 'reports'), 2);
    await assertServes(installed, id);

    log('uninstalling');
    await release.uninstall();
    await waitForLeftovers(world, ['persistentvolumeclaim/data-fw-postgres-0']);
    log('installing again on the remaining volume');
    const again = await installPlatform(world, PERSISTENT);
    await assertServes(again, id);
    await again.release.uninstall();
    await cluster.kubectl(['delete', 'persistentvolumeclaims', '--all', '--namespace', namespace]);
  },
});

/** Asserts that an earlier user can be read, a new one created, and reports requested. */
async function assertServes({ api, newToken }: Platform, id: string): Promise<void> {
  await readJson(await api.get(`/api/v1/users/${id}`));
  const user = { name: 'Later', email: 'later@example.org' };
  await readJson(await api.send('POST', '/api/v1/users', user), 201);
  const authorization = `Bearer ${newToken()}`;
  await readJson(await api.get('/api/v1/reports', { authorization }));
}

async function podNames({ cluster, namespace }: World): Promise<readonly string[]> {
  const names = await cluster.kubectl(['get', 'pods', '--namespace', namespace, '--output=name']);
  return names.trim().split('\n').toSorted();
}

/** The configured log level of users. */
async function logLevel({ cluster, namespace }: World): Promise<string | undefined> {
  const { data } = await cluster.read<{ readonly data: Readonly<Record<string, string>> }>(
    ...['configmap', 'fw-users', '--namespace', namespace],
  );
  return data.LOG_LEVEL;
}

async function readyReplicas({ cluster, namespace }: World, service: string): Promise<number> {
  const { status } = await cluster.read<{ readonly status: { readonly readyReplicas: number } }>(
    ...['deployment', `fw-${service}`, '--namespace', namespace],
  );
  return status.readyReplicas;
}

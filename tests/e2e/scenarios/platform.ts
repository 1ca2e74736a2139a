import assert from 'node:assert/strict';
import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { merge } from '../../../deploy/local/cluster/values.ts';
import type { Json } from '../../contract/api.ts';
import type { Check } from '../../contract/check.ts';
import type { Target } from '../../contract/target.ts';
import { outsideChecks } from '../../smoke/smoke.ts';
import { installPlatform, type Platform } from '../platform.ts';
import type { Scenario, World } from '../scenario.ts';
import { provideVolumes } from '../volumes.ts';

const CHANGED = { users: { config: { LOG_LEVEL: 'error' } }, reports: { replicaCount: 3 } };

/** The life of the platform, as an operator lives it. */
export const platform: Scenario = {
  name: 'platform',
  title: 'the platform is installed, keeps both contracts, is changed, taken back and removed',
  seconds: 420,
  async run(world) {
    const { cluster, space, say } = world;
    await provideVolumes(world);
    const installed = await installPlatform(world, { postgres: { storage: { ephemeral: false } } });
    const { release, values, target } = installed;

    say('holding both versions against their contracts, through the edge');
    await holdsContract(target);
    say('running helm test');
    await release.test();

    const kept = await target.api.send('POST', '/api/v1/users', {
      name: 'Kept',
      email: 'kept@example.org',
    });
    assert.equal(kept.status, 201, await kept.clone().text());
    const { data } = (await kept.json()) as Json;

    say('upgrading to the same values, which leaves every pod');
    const pods = await podNames(world);
    await release.upgrade(values);
    assert.deepEqual(await podNames(world), pods);

    say('upgrading to another configuration');
    await release.upgrade(merge(values, CHANGED));
    assert.equal(await logLevel(world), 'error');
    assert.equal(await ready(world, 'reports'), 3);
    await holdsStill(installed, data.id);

    say('rolling back');
    await release.rollback(1);
    assert.equal(await logLevel(world), 'info');
    assert.equal(await ready(world, 'reports'), 2);
    await holdsStill(installed, data.id);

    say('uninstalling');
    await release.uninstall();
    await leavesOnly(world, ['persistentvolumeclaim/data-fw-postgres-0']);
    say('installing again on the volume that was left');
    const again = await installPlatform(world, { postgres: { storage: { ephemeral: false } } });
    await holdsStill(again, data.id);
    await again.release.uninstall();
    await cluster.kubectl(['delete', 'persistentvolumeclaims', '--all', '--namespace', space.name]);
  },
};

/** Runs the checks that any system is held to, and tells those that fail. */
export async function holdsContract(
  target: Target,
  checks: readonly Check<Target>[] = outsideChecks,
): Promise<void> {
  const failed: string[] = [];
  for (const one of checks) {
    await one.run(target).catch((error) => failed.push(`${one.title}: ${error.message}`));
  }
  assert.equal(failed.length, 0, `${failed.length} of ${checks.length}:\n${failed.join('\n')}`);
}

/** What was written before is there, with the old token too, and something new can be written. */
async function holdsStill({ target: { api, newToken } }: Platform, id: string): Promise<void> {
  const read = await api.get(`/api/v1/users/${id}`);
  assert.equal(read.status, 200, await read.clone().text());
  const user = { name: 'Later', email: 'later@example.org' };
  const created = await api.send('POST', '/api/v1/users', user);
  assert.equal(created.status, 201, await created.clone().text());
  const authorization = `Bearer ${newToken()}`;
  const report = await api.get('/api/v1/reports', { authorization });
  assert.equal(report.status, 200, await report.text());
}

async function podNames({ cluster, space }: World): Promise<readonly string[]> {
  const names = await cluster.kubectl(['get', 'pods', '--namespace', space.name, '--output=name']);
  return names.trim().split('\n').toSorted();
}

/** The level that users is configured to log at. */
async function logLevel({ cluster, space }: World): Promise<string> {
  const { data } = await cluster.read<{ readonly data: Readonly<Record<string, string>> }>(
    ...['configmap', 'fw-users', '--namespace', space.name],
  );
  const { LOG_LEVEL = '' } = data;
  return LOG_LEVEL;
}

async function ready({ cluster, space }: World, service: string): Promise<number> {
  const { status } = await cluster.read<{ readonly status: { readonly readyReplicas: number } }>(
    ...['deployment', `fw-${service}`, '--namespace', space.name],
  );
  return status.readyReplicas;
}

/** Waits until nothing else is in the namespace: pods that served take their time to end. */
export async function leavesOnly(world: World, expected: readonly string[]): Promise<void> {
  const what = `nothing to be left but ${expected.join(' and ')}`;
  await waitFor({ cluster: world.cluster, what, seconds: 90, everyMs: 2_000 }, async () => {
    const left = await leftovers(world);
    assert.deepEqual(left, expected, `${left.join(', ')} is left`);
    return true;
  });
}

/** Everything in the namespace but what Kubernetes itself puts into each, and what only tells. */
async function leftovers({ cluster, space }: World): Promise<string[]> {
  const kinds = await cluster.kubectl([
    'api-resources',
    '--namespaced',
    '--verbs=list',
    '-o',
    'name',
  ]);
  const told = [
    'events',
    'events.events.k8s.io',
    'pods.metrics.k8s.io',
    'endpointslices.discovery.k8s.io',
  ];
  const wanted = kinds
    .trim()
    .split('\n')
    .filter((kind) => !told.includes(kind));
  const names = await cluster.kubectl([
    ...['get', wanted.join(','), '--namespace', space.name, '--output=name', '--ignore-not-found'],
  ]);
  const own = ['configmap/kube-root-ca.crt', 'serviceaccount/default'];
  return names
    .trim()
    .split('\n')
    .filter((name) => name !== '' && !own.includes(name))
    .toSorted();
}

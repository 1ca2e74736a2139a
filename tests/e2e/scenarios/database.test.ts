import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../../deploy/local/cluster/pod.ts';
import { SERVICE_NAMES } from '../../../services/services.ts';
import type { Api } from '../../api/requests.ts';
import { installPlatform } from '../platform.ts';
import { killPods, podsOf, restartsOf, scale } from '../pods.ts';
import { scenario } from '../scenario.ts';
import { createUser } from '../users.ts';
import { provideVolumes } from '../volumes.ts';

/** The limit of a response while the database is unavailable. */
const UNAVAILABLE_MS = 1_000;
/** The limit of the recovery of a service. */
const RECOVERY_MS = 2_000;
/** Long enough that a liveness probe that depends on the database would restart the pods. */
const OUTAGE_MS = 35_000;

scenario({
  name: 'database',
  title:
    'while PostgreSQL is unavailable users returns 503 within 1 s without a restart, and recovers within 2 s',
  seconds: 300,
  async run(world) {
    const { cluster, log } = world;
    await provideVolumes(world, 1);
    const { api } = await installPlatform(world, { postgres: { storage: { ephemeral: false } } });
    const acknowledged = await createUser(api);

    log('killing PostgreSQL');
    await scale(world, 'statefulset/fw-postgres', 0);
    await killPods(world, 'postgres');
    await waitFor({ cluster, what: 'a 503 response', seconds: 10, everyMs: 50 }, async () => {
      return (await timedRequest(api)).status === 503 || undefined;
    });
    const responses = await Promise.all(Array.from({ length: 20 }, () => timedRequest(api)));
    for (const { status, elapsedMs } of responses) {
      assert.equal(status, 503);
      assert.ok(elapsedMs < UNAVAILABLE_MS, `responded after ${elapsedMs} ms`);
    }
    log(`503 within ${Math.max(...responses.map(({ elapsedMs }) => elapsedMs))} ms`);
    await sleep(OUTAGE_MS, undefined, { signal: cluster.signal });

    log('starting PostgreSQL again');
    await scale(world, 'statefulset/fw-postgres', 1);
    const readyMs = await waitFor(
      { cluster, what: 'PostgreSQL to accept connections', seconds: 60, everyMs: 100 },
      async () => {
        const [pod] = await podsOf(world, 'postgres');
        return pod && isReady(pod) ? Date.now() : undefined;
      },
    );
    await waitFor({ cluster, what: 'users to recover', seconds: 20, everyMs: 50 }, async () => {
      return (await timedRequest(api)).status === 200 || undefined;
    });
    const recoveryMs = Date.now() - readyMs;
    log(`recovered ${recoveryMs} ms after PostgreSQL was ready`);
    assert.ok(recoveryMs <= RECOVERY_MS, `recovered after ${recoveryMs} ms`);
    const kept = await api.get(`/api/v1/users/${acknowledged}`);
    assert.equal(kept.status, 200, await kept.text());
    for (const name of SERVICE_NAMES) {
      assert.equal(restartsOf(await podsOf(world, name)), 0, `${name} was restarted`);
    }
  },
});

async function timedRequest(api: Api): Promise<{ status: number; elapsedMs: number }> {
  const start = Date.now();
  const response = await api.get('/api/v1/users?page=1&limit=1', { connection: 'close' });
  await response.arrayBuffer();
  return { status: response.status, elapsedMs: Date.now() - start };
}

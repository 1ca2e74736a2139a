import { setTimeout as sleep } from 'node:timers/promises';

import { expect, onTestFinished, test } from 'vitest';

import { readRunning } from '../../deploy/local/state.ts';
import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { startTrialStores } from '../../deploy/local/testing/trial-stores.ts';
import { startTrialSystem, type TrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { issueToken, readOrCreateSecret } from '../../deploy/local/token.ts';
import { createUsers } from './create-users.ts';
import { leave } from './leaving-clients/leave.ts';
import { describeExcess, type Resources, readResources } from './leaving-clients/resources.ts';
import { NODE_OPTIONS } from './metrics.ts';
import { FULL, writeResultsOf } from './results.ts';

/** Clients per kind of store; another tenth of them warms the processes up. */
const CLIENTS = FULL ? 10_000 : 1_200;

/** Enough that a list has several batches. */
const USERS = 3_000;

/** Caches and compiled code may grow by this much; it is less than 1 kB per client in the full form. */
const HEAP_TOLERANCE_MIB = 3;

/** A response of each kind: a streamed list, a page, and a report that waits for two services. */
const TARGETS = {
  'users-1': '/api/v1/users',
  'catalog-1': '/api/v2/catalog?limit=100',
  'reports-1': '/api/v2/reports/overview',
};

/** After this time, the edge has closed its idle connections to the services. */
const EDGE_IDLE_MS = 4_000;

function processesOf({ folders }: TrialSystem) {
  return readRunning(folders.run).filter(({ name }) => name !== 'edge');
}

/** Half of the clients use the edge, the others the service. */
async function leaveAll(system: TrialSystem, clients: number): Promise<void> {
  const secret = readOrCreateSecret(system.folders.run);
  const headers = {
    Authorization: `Bearer ${issueToken({ secret, user: 'leaving', tier: 'pro' })}`,
  };
  for (const { name, address } of processesOf(system)) {
    const path = TARGETS[name as keyof typeof TARGETS];
    if (!path) continue;
    for (const port of [Number(new URL(address).port), system.port]) {
      await leave({ port, path, headers, clients: Math.ceil(clients / 6) });
    }
  }
}

/** Measures the processes, each as soon as it holds no more than `before`. */
async function measure(
  system: TrialSystem,
  before: readonly Resources[] = [],
): Promise<readonly Resources[]> {
  await sleep(EDGE_IDLE_MS);
  const all: Resources[] = [];
  for (const [index, { name, readyUrl }] of processesOf(system).entries()) {
    await expect
      .poll(async () => describeExcess(await readResources(readyUrl), before[index]), {
        timeout: 60_000,
        message: name,
      })
      .toBe('');
    all.push(await readResources(readyUrl));
  }
  return all;
}

const rows: string[][] = [];

test.each(['SQLite', 'PostgreSQL and Redis'])(
  'clients that leave during a response leave nothing behind (%s)',
  async (stores) => {
    const servers = stores === 'SQLite' ? undefined : await startTrialStores();
    onTestFinished(() => servers?.stop());
    const system = await startTrialSystem({ ...servers?.variables, NODE_OPTIONS });
    onTestFinished(system.stop);
    await createUsers(system.origin, { count: USERS });
    await leaveAll(system, CLIENTS / 10);
    const before = await measure(system);

    await leaveAll(system, CLIENTS);

    const after = await measure(system, before);
    for (const [index, { name }] of processesOf(system).entries()) {
      const [then, now] = [before[index]!, after[index]!];
      rows.push([
        `${name}, ${stores}`,
        `${then.fileDescriptors} → ${now.fileDescriptors}`,
        `${then.handles} → ${now.handles}`,
        `${then.heapMiB.toFixed(1)} → ${now.heapMiB.toFixed(1)}`,
      ]);
      expect(now.heapMiB, name).toBeLessThan(then.heapMiB + HEAP_TOLERANCE_MIB);
    }
  },
  600_000,
);

writeResultsOf(2, 'leaving-clients', () => {
  const head = ['process', 'file descriptors', 'handles', 'heap after collection (MiB)'];
  return `Before and after ${CLIENTS} clients per kind of store.\n\n${markdownTable(head, rows)}`;
});

import { startPostgres } from '@fw/service/testing/postgres';
import { expect, onTestFinished, test } from 'vitest';

import { markdownTable } from '../../deploy/local/testing/markdown.ts';
import { startRedisServer } from '../../framework/rate-limit/src/testing/redis-server.ts';
import { createUsers } from './create-users.ts';
import { leave } from './leaving-clients/leave.ts';
import { describeExcess, type Resources, readResources } from './leaving-clients/resources.ts';
import { type MeasuredSystem, startMeasuredSystem } from './leaving-clients/system.ts';
import { FULL, writeResultsOf } from './results.ts';

/** Clients per store; another tenth of them warms the processes up. */
const CLIENTS = FULL ? 10_000 : 1_200;

/** Enough that a list has several batches. */
const USERS = 3_000;

/** Caches and compiled code may grow by this much; it is less than 1 kB per client in the full form. */
const HEAP_TOLERANCE_MIB = 3;

/** A response of each kind: a streamed list, a page, and a report that waits for two services. */
const PATHS = {
  users: '/api/v1/users',
  catalog: '/api/v2/catalog?limit=100',
  reports: '/api/v2/reports/overview',
};

/** Half of the clients use the edge, the others the service. */
async function leaveAll(
  { services, edgePort, token }: MeasuredSystem,
  clients: number,
): Promise<void> {
  const headers = { Authorization: `Bearer ${token}` };
  for (const { name, port } of services) {
    const target = PATHS[name as keyof typeof PATHS];
    for (const each of [port, edgePort]) {
      await leave({ port: each, path: target, headers, clients: Math.ceil(clients / 6) });
    }
  }
}

/** Measures the processes, each as soon as it holds no more than `before`. */
async function measure(
  { services }: MeasuredSystem,
  before: readonly Resources[] = [],
): Promise<readonly Resources[]> {
  const all: Resources[] = [];
  for (const [index, { name, healthUrl }] of services.entries()) {
    await expect
      .poll(async () => describeExcess(await readResources(healthUrl), before[index]), {
        timeout: 60_000,
        message: name,
      })
      .toBe('');
    all.push(await readResources(healthUrl));
  }
  return all;
}

async function startStores(): Promise<Readonly<Record<string, string>>> {
  const [postgres, redis] = await Promise.all([startPostgres(), startRedisServer()]);
  onTestFinished(async () => {
    await Promise.all([postgres.stop(), redis.stop()]);
  });
  return { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
}

const rows: string[][] = [];

test.each(['SQLite', 'PostgreSQL and Redis'])(
  'clients that leave during a response leave nothing behind (%s)',
  async (stores) => {
    const system = await startMeasuredSystem(stores === 'SQLite' ? {} : await startStores());
    onTestFinished(() => system.stop());
    await createUsers(system.services[0]?.url ?? '', USERS);
    await leaveAll(system, CLIENTS / 10);
    const before = await measure(system);

    await leaveAll(system, CLIENTS);

    const after = await measure(system, before);
    for (const [index, { name }] of system.services.entries()) {
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

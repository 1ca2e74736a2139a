import path from 'node:path';

import { startPostgres } from '@fw/service/testing/postgres';
import { afterAll, expect, onTestFinished, test } from 'vitest';

import { describeMachine } from '../../deploy/local/testing/machine.ts';
import { markdownTable, writeSection } from '../../deploy/local/testing/markdown.ts';
import { startRedisServer } from '../../framework/rate-limit/src/testing/redis-server.ts';
import { leave } from './leaving-clients/leave.ts';
import { describeExcess, type Resources, readResources } from './leaving-clients/resources.ts';
import { type DebuggedSystem, startDebuggedSystem } from './leaving-clients/system.ts';
import { readUsedHeap } from './leaving-clients/used-heap.ts';

/** Clients per store; another tenth of them warms the processes up. */
const CLIENTS = process.env.FULL ? 10_000 : 1_200;

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

async function createUsers({ services: [users] }: DebuggedSystem): Promise<void> {
  const body = JSON.stringify({ name: 'x'.repeat(200), email: 'leaving@example.org' });
  const headers = { 'content-type': 'application/json' };
  let left = USERS;
  const create = async () => {
    while (left-- > 0) {
      const response = await fetch(`${users?.url}/api/v1/users`, { method: 'POST', headers, body });
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: 32 }, create));
}

/** Half of the clients use the edge, the others the service. */
async function leaveAll(
  { services, edgePort, token }: DebuggedSystem,
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

interface Measured extends Resources {
  /** The heap after a garbage collection. */
  readonly heapMiB: number;
}

/** Measures the processes, each as soon as it holds no more than `before`. */
async function measure(
  { services }: DebuggedSystem,
  before: readonly Measured[] = [],
): Promise<readonly Measured[]> {
  const all: Measured[] = [];
  for (const [index, { name, healthUrl, debuggerPort }] of services.entries()) {
    await expect
      .poll(async () => describeExcess(await readResources(healthUrl), before[index]), {
        timeout: 60_000,
        message: name,
      })
      .toBe('');
    const resources = await readResources(healthUrl);
    all.push({ ...resources, heapMiB: await readUsedHeap(debuggerPort) });
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
    const system = await startDebuggedSystem(stores === 'SQLite' ? {} : await startStores());
    onTestFinished(() => system.stop());
    await createUsers(system);
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

afterAll(() => {
  if (!process.env.FULL || rows.length < 6) return;
  const head = ['process', 'file descriptors', 'handles', 'heap after collection (MiB)'];
  const counted = `Before and after ${CLIENTS} clients per kind of store.`;
  const section = `${describeMachine()} ${counted}\n\n${markdownTable(head, rows)}`;
  writeSection(
    path.resolve(import.meta.dirname, '../../docs/failures.md'),
    'leaving-clients',
    section,
  );
});

import assert from 'node:assert/strict';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { test } from 'vitest';

import { waitFor } from '../../deploy/local/cluster/cluster.ts';
import { isReady } from '../../deploy/local/cluster/pod.ts';
import { describeMachine } from '../../deploy/local/testing/machine.ts';
import { markdownTable, writeSection } from '../../deploy/local/testing/markdown.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { checkSystem } from '../check-system.ts';
import { measureStolenTime } from '../stolen-time.ts';
import { columnsOf, deletePods, everyChange, Totals } from './changes.ts';
import {
  applyCertificate,
  type Certificates,
  getByHttp2,
  issueCertificates,
  SECRET,
} from './edge-certificate.ts';
import { assertRowsOf, assertUsersExist, createUser, readUsers, sql } from './ledger.ts';
import { waitForLeftovers } from './leftovers.ts';
import { findWrongCalls } from './network.ts';
import { killNode, missingSpareNode, pickNodes, singlePodsOnOneNode } from './nodes.ts';
import {
  assertResponds,
  forAllServices,
  installPlatform,
  NAME,
  type Platform,
  QUIET,
} from './platform.ts';
import {
  assertNoRestart,
  deletePod,
  killPods,
  logLines,
  podsOf,
  restart,
  restartServices,
  scale,
  waitForIdle,
  waitForPods,
  waitForReplicas,
} from './pods.ts';
import { COLUMN } from './rename-column.ts';
import { assertLoses, streamDuring } from './stream.ts';
import { merge } from './values.ts';
import { nodeImage, provideVolumes } from './volumes.ts';
import { createWorld } from './world.ts';

// One installation for all tests of this file: PostgreSQL, Valkey, TLS at the edge, two nodes.
const world = createWorld('platform', missingSpareNode);
const { cluster, namespace, log } = world;
let platform: Platform;
let certificates: Certificates;

test('installs, and serves both versions of the API by HTTP/2 and TLS', async () => {
  await provideVolumes(world);
  certificates = await issueCertificates(world);
  const values = merge(QUIET, await singlePodsOnOneNode(cluster), {
    edge: { tls: { secretName: SECRET } },
    postgres: { storage: { ephemeral: false } },
  });
  await assert.rejects(installPlatform(world, values), /edge-tls, but \S+ has no such Secret/);
  await applyCertificate(world, certificates.first);
  platform = await installPlatform(world, values);

  for (const target of ['/', '/api/v1/users', '/api/v2/users', '/api/v2/catalog?limit=1']) {
    assert.deepEqual(await getByHttp2(platform.base, target), { status: 200, protocol: 'h2' });
  }
});

test('passes the contract and smoke tests through the edge, and its own helm test', async () => {
  await checkSystem(platform, cluster.signal);
  await platform.release.test();
});

test('an upgrade to the same values keeps every pod', async () => {
  const names = () => cluster.kubectl(['get', 'pods', '--namespace', namespace, '--output=name']);
  const before = await names();

  await platform.upgrade({});

  assert.equal(await names(), before);
});

test('every pod reaches only the parts that it needs', async () => {
  assert.deepEqual(await findWrongCalls(world), []);
});

/** Requests of one user of the free tier in each window. */
const LIMIT = 100;

test('three replicas accept exactly 100 of 300 requests of one user; without Valkey each limits alone', async () => {
  /** Sends requests of a new user at once, and counts the responses by status. */
  const countByStatus = async (requests: number) => {
    const authorization = `Bearer ${platform.newToken()}`;
    const counts: Record<number, number> = {};
    const send = async () => {
      const response = await platform.api.get('/api/v1/reports', { authorization });
      await response.arrayBuffer();
      counts[response.status] = (counts[response.status] ?? 0) + 1;
    };
    await Promise.all(Array.from({ length: requests }, send));
    return counts;
  };
  const exact = { 200: LIMIT, 429: 2 * LIMIT };
  await platform.upgrade({ reports: { replicaCount: 3 } });
  // Warm-up: a replica whose store is slow counts separately, and the first requests are slow.
  await countByStatus(LIMIT);
  await waitForIdle(world, platform.base);

  const problems = () => logLines(world, 'reports', /rate limit store/);
  assert.deepEqual(await countByStatus(3 * LIMIT), exact, (await problems()).join('\n'));

  log('killing Valkey');
  await scale(world, 'deployment/fw-valkey', 0);
  await killPods(world, 'valkey');
  const counts = await countByStatus(4 * LIMIT);
  log(`without Valkey: ${JSON.stringify(counts)}`);
  assert.deepEqual(Object.keys(counts), ['200', '429'], 'requests are limited and none fails');
  assert.ok((counts[200] ?? 0) <= 3 * LIMIT, `${counts[200]} requests of one user passed`);

  log('starting Valkey again');
  await scale(world, 'deployment/fw-valkey', 1);
  await waitForPods(world, { part: 'valkey', count: 1 });
  await waitFor({ cluster, what: 'one count for all replicas', seconds: 30 }, async () => {
    assert.deepEqual(await countByStatus(3 * LIMIT), exact);
    return true;
  });
  await assertNoRestart(world, ['reports']);
  await platform.upgrade({ reports: { replicaCount: 2 } });
});

/** The limits of a response while the database is unavailable, and of the recovery of a service. */
const UNAVAILABLE_MS = 1_000;
const RECOVERY_MS = 2_000;
/** Long enough that a liveness probe that depends on the database would restart the pods. */
const OUTAGE_MS = 35_000;

test('while PostgreSQL is unavailable, users returns 503 within 1 s without a restart, and recovers within 2 s', async () => {
  const timedRequest = async () => {
    const start = Date.now();
    const target = '/api/v1/users?page=1&limit=1';
    const response = await platform.api.get(target, { connection: 'close' });
    await response.arrayBuffer();
    return { status: response.status, elapsedMs: Date.now() - start };
  };
  const waitForStatus = (status: number, seconds: number) =>
    waitFor({ cluster, what: `a response ${status}`, seconds, everyMs: 50 }, async () => {
      return (await timedRequest()).status === status || undefined;
    });
  const acknowledged = await createUser(platform.api);

  log('killing PostgreSQL');
  await scale(world, 'statefulset/fw-postgres', 0);
  await killPods(world, 'postgres');
  await waitForStatus(503, 10);
  const responses = await Promise.all(Array.from({ length: 20 }, timedRequest));
  for (const { status, elapsedMs } of responses) {
    assert.equal(status, 503);
    assert.ok(elapsedMs < UNAVAILABLE_MS, `responded after ${elapsedMs} ms`);
  }
  log(`503 within ${Math.max(...responses.map(({ elapsedMs }) => elapsedMs))} ms`);
  await sleep(OUTAGE_MS, undefined, { signal: cluster.signal });

  log('starting PostgreSQL again');
  await scale(world, 'statefulset/fw-postgres', 1);
  const ready = { cluster, what: 'PostgreSQL to be ready', seconds: 60, everyMs: 100 };
  const readyMs = await waitFor(ready, async () => {
    return (await podsOf(world, 'postgres')).some(isReady) ? Date.now() : undefined;
  });
  await waitForStatus(200, 20);
  const recoveryMs = Date.now() - readyMs;
  log(`recovered ${recoveryMs} ms after PostgreSQL was ready`);
  assert.ok(recoveryMs <= RECOVERY_MS, `recovered after ${recoveryMs} ms`);
  await assertUsersExist(platform.api, [acknowledged]);
  await assertNoRestart(world, SERVICE_NAMES);
});

const { full, streamRate, streamRequests } = world.settings;
const totals = new Totals();
/** The page with the results of the full form. */
const FAILURES_PAGE = path.resolve(import.meta.dirname, '../../docs/operations/failures.md');
/** The full form repeats the changes until the number of requests is reached. */
const CHANGES_LIMIT_MS = (full ? 3 * (streamRequests / streamRate) + 900 : 1_140) * 1_000;

test('no request and no acknowledged write is lost during any change', {
  timeout: CHANGES_LIMIT_MS,
}, async () => {
  const stolen = measureStolenTime();
  const before = (await readUsers(world, COLUMN.old)).length;
  const seconds = Math.ceil(Math.min(streamRequests, 40_000) / streamRate);
  do {
    const changes = () => everyChange(world, platform, { totals, certificates });
    const stream = await streamDuring(world, platform, changes, { seconds });
    const result = await stream.end().catch(async (error: Error) => {
      const lines = await logLines(world, 'edge', /"status":50\d|\[error\]/);
      throw new Error([error.message, ...lines.slice(0, 10)].join('\n'), { cause: error });
    });
    totals.add(result);
  } while (full && totals.requests.sent < streamRequests);

  const [column] = columnsOf(platform);
  const unacknowledged = assertRowsOf(totals.ledger, await readUsers(world, column));
  const inFlight = unacknowledged - before;
  assert.ok(inFlight <= 5 * streamRate * totals.requests.streams, `${inFlight} other rows`);
  assert.ok(totals.requests.sent >= 0.95 * streamRequests, 'too few requests were sent');
  // Other programs on the machine may delay k6.
  if (full && stolen() < 0.01) assert.equal(totals.requests.dropped, 0, 'requests started late');
  const sums = { ...totals.changes, ...totals.requests, acknowledged: totals.ledger.length };
  const rows = Object.entries({ ...sums, 'rows of requests in flight': inFlight });
  const table = markdownTable(
    ['Changes and requests', 'Number'],
    rows.map(([name, count]) => [name, count.toLocaleString('en')]),
  );
  console.log(table);
  if (full) writeSection(FAILURES_PAGE, 'rollout', `${describeMachine()}\n\n${table}`);
});

test('after the power loss of a node all parts recover; clients that repeat requests lose none, and no write is lost', async (context) => {
  if (!world.settings.killNode) context.skip('KILL_NODE and START_NODE are not set');
  const node = (await pickNodes(cluster)).goes.metadata.name;
  const parts = [...SERVICE_NAMES, 'edge'];

  const stream = await streamDuring(
    world,
    platform,
    async () => {
      log(`killing ${node}`);
      const startNode = await killNode(world, node);
      const recovered = { cluster, what: 'the platform to recover', seconds: 60 };
      await waitFor(recovered, () => assertResponds(platform));
      for (const part of parts) await waitForReplicas(world, { part, count: 2, seconds: 180 });
      log(`starting ${node} again`);
      await startNode();
      for (const part of parts) await waitForPods(world, { part, count: 2 });
    },
    // Each client that repeats a request for 90 s needs a virtual user of k6.
    { rate: 20, retrySeconds: 90 },
  );
  totals.add(await stream.end());

  const [column] = columnsOf(platform);
  assertRowsOf(totals.ledger, await readUsers(world, column));
});

/** A migration of a later release, which only adds columns and tables. */
const LATER_MIGRATION = `
  ALTER TABLE users ADD COLUMN nickname text;
  INSERT INTO users_migrations (version) SELECT max(version) + 1 FROM users_migrations;
`;

test('one of four pods that start at once migrates, and old pods work with the schema of a later release', async () => {
  const { api } = platform;
  const emptyDatabase = 'DROP SCHEMA public CASCADE; CREATE SCHEMA public';
  await sql(world, emptyDatabase);
  // catalog has its tables in the same database, and would not create them again while it runs; reports needs it.
  const others = (enabled: boolean) => ({ catalog: { enabled }, reports: { enabled } });
  await platform.upgrade({ users: { extraEnv: [], replicaCount: 4 }, ...others(false) });

  log('starting four pods at once on an empty database');
  await sql(world, emptyDatabase);
  await killPods(world, 'users');
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
  await assertUsersExist(api, [before]);
  await createUser(api);

  log('starting old pods on the later schema');
  await restart(world, ['fw-users']);
  await waitForPods(world, { part: 'users', count: 4 });
  await assertUsersExist(api, [before]);
  await createUser(api);
  await assertNoRestart(world, ['users']);
  await platform.upgrade({ users: { replicaCount: 2 }, ...others(true) });
});

/** Scales faster than the defaults of Kubernetes, to keep the test short. */
const AUTOSCALING = {
  enabled: true,
  maxReplicas: 4,
  targetCPUUtilizationPercentage: 30,
  behavior: {
    scaleUp: {
      stabilizationWindowSeconds: 0,
      policies: [{ type: 'Pods', value: 2, periodSeconds: 5 }],
    },
    scaleDown: {
      stabilizationWindowSeconds: 10,
      policies: [{ type: 'Percent', value: 100, periodSeconds: 5 }],
    },
  },
};

test('users scales up from 2 pods under load and down again, without losing a request', async () => {
  await waitForPods(world, { part: 'users', count: 2 });
  const namesOf = async () => (await podsOf(world, 'users')).map(({ metadata }) => metadata.name);
  const before = await namesOf();
  await platform.upgrade({ users: { autoscaling: AUTOSCALING } });
  assert.deepEqual(await namesOf(), before, 'the pods until the autoscaler sets their number');
  const more = { cluster, what: 'a third ready pod of users', seconds: 120 };

  const scaleUp = async () => {
    await waitFor(more, async () => {
      return (await podsOf(world, 'users')).filter(isReady).length > 2 || undefined;
    });
  };
  const load = await streamDuring(world, platform, scaleUp, { rate: 300 });
  await load.end();
  // Four pods then use less than half of the target.
  const slow = await streamDuring(
    world,
    platform,
    () => waitForPods(world, { part: 'users', count: 2, seconds: 180 }),
    { rate: 5 },
  );
  await slow.end();
});

/** Stops the service immediately on SIGTERM, and without the pause that lets others notice it. */
const WITHOUT_DRAIN = {
  preStopSleepSeconds: 0,
  extraEnv: [
    {
      name: 'NODE_OPTIONS',
      value: "--import=data:text/javascript,process.once('SIGTERM',()=>process.exit())",
    },
  ],
};

test.runIf(full)(
  'without the drain the same requests are lost: the tests above would detect it',
  async () => {
    const fixed = { users: { autoscaling: { enabled: false } } };
    await platform.upgrade(merge(forAllServices(WITHOUT_DRAIN), fixed));
    const changes = async () => {
      await restartServices(world);
      await deletePods(world, platform.base);
    };

    await assertLoses(world, platform, changes);

    await platform.upgrade(forAllServices({ preStopSleepSeconds: 5, extraEnv: [] }));
  },
);

/** The port of the proxy in the pods of users. */
const PROXY_PORT = 6432;

/** The program of a sidecar that forwards connections to PostgreSQL. At its end it prints the open ones. */
const PROXY = `
  const net = require('node:net');
  const server = net.createServer((client) => {
    const database = net.connect(5432, '${NAME}-postgres');
    client.on('error', () => database.destroy()).pipe(database);
    database.on('error', () => client.destroy()).pipe(client);
  });
  server.listen(${PROXY_PORT}, '127.0.0.1');
  process.once('SIGTERM', () => server.getConnections((_, open) => {
    console.log('open connections: ' + open);
    process.exit();
  }));`;

test('no request is lost while pods end that reach their database through a native sidecar', async () => {
  const where = ['--namespace', namespace, '--request-timeout=0'];
  const secret = await cluster.read<{ readonly data: { readonly url: string } }>(
    ...['secret', `${NAME}-postgres`, '--namespace', namespace],
  );
  const url = Buffer.from(secret.data.url, 'base64').toString();
  const viaProxy = url.replace(`@${NAME}-postgres:5432`, `@127.0.0.1:${PROXY_PORT}`);
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'via-proxy', namespace },
    stringData: { url: viaProxy },
  });
  const sidecar = {
    name: 'database-proxy',
    image: nodeImage(world.settings),
    restartPolicy: 'Always',
    command: ['node', '--eval', PROXY],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  await platform.upgrade({
    users: {
      autoscaling: { enabled: false },
      store: { postgres: { existingSecret: { name: 'via-proxy' } } },
      // The chart takes this for a database of the user, which the default peer would not allow.
      networkPolicy: {
        databaseTo: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'postgres' } } }],
      },
      extraInitContainers: [sidecar],
    },
  });
  // An upgrade does not wait for the end of the old pods.
  await waitForPods(world, { part: 'users', count: 2 });
  const deleteEach = async () => {
    for (const { metadata } of await podsOf(world, 'users')) {
      log(`deleting ${metadata.name}`);
      const output = cluster.kubectl([
        ...['logs', metadata.name, '--container', sidecar.name, '--follow', ...where],
      ]);
      await deletePod(world, metadata.name);
      assert.equal((await output).trim(), 'open connections: 0', 'the proxy ends after users');
      await waitForPods(world, { part: 'users', count: 2 });
    }
  };

  const stream = await streamDuring(world, platform, deleteEach, { rate: 50 });

  const { ledger } = await stream.end();
  assertRowsOf(ledger, await readUsers(world, COLUMN.old));
});

test('uninstall leaves only the volume of PostgreSQL, and a new installation finds its data', async () => {
  const id = await createUser(platform.api);

  await platform.release.uninstall();

  await cluster.kubectl([
    'delete',
    `secret/${SECRET}`,
    'secret/via-proxy',
    '--namespace',
    namespace,
  ]);
  await waitForLeftovers(world, ['persistentvolumeclaim/data-fw-postgres-0']);
  const again = await installPlatform(world, {
    ...(await singlePodsOnOneNode(cluster)),
    postgres: { storage: { ephemeral: false } },
  });
  await assertUsersExist(again.api, [id]);
});

import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Values } from '../../../deploy/local/cluster/values.ts';
import { installPlatform, NAME, type Platform } from '../platform.ts';
import { podsOf, waitForPods } from '../pods.ts';
import { scenario, type World } from '../scenario.ts';
import { assertUsersExist, createUser } from '../users.ts';
import { nodeImage } from '../volumes.ts';

const PROXY = 'database-proxy';
const PORT = 6432;
/** Clients that create one user after another. */
const CLIENTS = 4;

scenario({
  name: 'sidecar',
  title: 'no request is lost while pods end that reach their database through a native sidecar',
  seconds: 300,
  async run(world) {
    const platform = await installWithProxy(world);
    const stopped = new AbortController();
    const creating = createUsers(platform, stopped.signal);
    try {
      await Promise.race([deletePods(world), creating]);
    } finally {
      stopped.abort();
    }
    const ids = await creating;
    world.log(`none of ${ids.length} requests was lost`);
    await assertUsersExist(platform.api, ids);
  },
});

/** Installs users with a proxy in its pods, through which alone they know the database. */
async function installWithProxy(world: World): Promise<Platform> {
  const { cluster, namespace, settings } = world;
  const password = crypto.randomUUID();
  await cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'database', namespace },
    stringData: { password, url: `postgres://fw:${password}@127.0.0.1:${PORT}/fw` },
  });
  const sidecar = {
    name: PROXY,
    image: nodeImage(settings),
    restartPolicy: 'Always',
    command: ['node', '--eval', `(${proxy})('${NAME}-postgres', ${PORT})`],
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
  };
  const none: Values = { enabled: false };
  return installPlatform(world, {
    ...{ catalog: none, reports: none, valkey: none },
    postgres: { existingSecret: 'database' },
    users: {
      store: { postgres: { existingSecret: { name: 'database' } } },
      extraInitContainers: [sidecar],
    },
  });
}

/** The program of the sidecar. When it is ended, it prints how many connections are open. */
const proxy = `(host, port) => {
  const net = require('node:net');
  const server = net.createServer((client) => {
    const database = net.connect(5432, host);
    client.on('error', () => database.destroy()).pipe(database);
    database.on('error', () => client.destroy()).pipe(client);
  });
  server.listen(port, '127.0.0.1');
  process.once('SIGTERM', () => server.getConnections((_, open) => {
    console.log('open connections: ' + open);
    process.exit();
  }));
}`;

/** Creates users until `signal` is aborted; returns their ids. */
async function createUsers({ api }: Platform, signal: AbortSignal): Promise<string[]> {
  const ids: string[] = [];
  const createNext = async () => {
    while (!signal.aborted) {
      ids.push(await createUser(api));
      await sleep(20);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, createNext));
  return ids;
}

/** Deletes one pod of users after another; the proxy of each must end after the service. */
async function deletePods(world: World): Promise<void> {
  const { cluster, namespace, log } = world;
  const inNamespace = ['--namespace', namespace, '--request-timeout=0'];
  for (const { metadata } of await podsOf(world, 'users')) {
    const { name } = metadata;
    log(`deleting ${name}`);
    const output = cluster.kubectl([
      'logs',
      name,
      '--container',
      PROXY,
      '--follow',
      ...inNamespace,
    ]);
    await cluster.kubectl(['delete', 'pod', name, ...inNamespace]);
    assert.equal((await output).trim(), 'open connections: 0');
    await waitForPods(world, { part: 'users', count: 2 });
  }
}

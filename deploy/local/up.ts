import { parseArgs } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { type BackendName, chooseBackend } from './cluster/backend.ts';
import { NodeImageError } from './cluster/kind-cluster.ts';
import { createClusterLaunch } from './cluster/launch.ts';
import { readParts } from './cluster/platform.ts';
import { clusterOf, readCluster } from './cluster/record.ts';
import { outliveReaders } from './output.ts';
import { createLaunch, type Launch } from './processes/launch.ts';
import { describeStores, readStores } from './processes/stores.ts';
import { folders, readRunning } from './state.ts';

function readOptions(): { port: number; backend: string } {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      backend: { type: 'string', default: '' },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1024 || port > 60_000) {
    throw new Error(`PORT must be an integer from 1024 to 60000, got "${values.port}"`);
  }
  return { port, backend: values.backend };
}

/** What the system runs on now, if it runs. */
function runningBackend(): BackendName | undefined {
  const cluster = readCluster(folders.run);
  if (cluster) return cluster.backend;
  return readRunning(folders.run).length > 0 ? 'processes' : undefined;
}

function launchOn(backend: BackendName, port: number): Launch {
  if (backend === 'processes') {
    return createLaunch({ folders, port, stores: readStores(process.env), say: console.log });
  }
  return createClusterLaunch({ folders, port, backend, env: process.env, say: console.log });
}

async function up(): Promise<void> {
  const { port, backend: wanted } = readOptions();
  const { name, why } = await chooseBackend({ wanted, running: runningBackend() });
  console.log(`Backend: ${name}, because ${why}`);
  let launch = launchOn(name, port);
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => reject(new Error('\nInterrupted: stopping what was started')));
    }
  });
  const start = async (): Promise<void> => {
    try {
      await launch.up();
    } catch (error) {
      if (!(error instanceof NodeImageError)) throw error;
      console.log(`Backend: processes, because ${error.message}`);
      launch = launchOn('processes', port);
      await launch.up();
    }
  };
  try {
    await Promise.race([start(), interrupted]);
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    await launch
      .takeBack()
      .catch((left) => console.error(left instanceof Error ? left.message : left));
    process.exit(1);
  }
  await printAddresses(`http://localhost:${port}`);
}

/** What there is of each service, and where it keeps its data and counts. */
async function describeSystem(): Promise<readonly string[]> {
  const stores = readStores(process.env);
  const cluster = readCluster(folders.run);
  if (!cluster) {
    const services = readRunning(folders.run).filter(({ name }) => name !== 'edge');
    const ports = services.map(({ name, address }) => `${name} :${new URL(address).port}`);
    return [`Replicas  ${ports.join(', ')}`, `Stores    ${describeStores(stores)}`];
  }
  const { namespace, cluster: name } = cluster;
  const parts = await readParts(clusterOf(folders.run, AbortSignal.timeout(30_000)), cluster);
  return [
    `Replicas  ${parts.map((part) => `${part.name} ${part.wanted}`).join(', ')}`,
    `Cluster   namespace ${namespace} of ${name}`,
    `          kubectl --kubeconfig .local/run/kubeconfig --namespace ${namespace} get pods`,
  ];
}

async function printAddresses(origin: string): Promise<void> {
  console.log(`
Open      ${origin}
Docs      ${origin}${SERVICE_NAMES.map((name) => `/docs/${name}`).join(', ')}
${(await describeSystem()).join('\n')}

Try
  curl -X POST ${origin}/api/v1/users -H 'content-type: application/json' -d '{"name":"Ada","email":"ada@example.org"}'
  curl '${origin}/api/v2/catalog?q=turntable&sort=-price&limit=3'
  curl -H "Authorization: Bearer $(make --silent token)" ${origin}/api/v2/reports/overview

make token USER=ada TIER=pro gives a token, make logs follows the logs, make down stops everything
`);
}

outliveReaders();
try {
  await up();
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exit(1);
}

import { parseArgs } from 'node:util';

import { OLD_VERSIONS, SERVICE_NAMES } from '../../services/services.ts';
import { type BackendName, chooseBackend } from './cluster/backend.ts';
import { PLACE } from './cluster/install.ts';
import { readKind } from './cluster/kind.ts';
import { createKindLaunch } from './cluster/launch.ts';
import { ignoreClosedOutput } from './output.ts';
import { createLaunch } from './processes/launch.ts';
import { describeStores, readStores } from './processes/stores.ts';
import { replicasOf } from './processes/system.ts';
import { checkServiceVariables } from './service-variables.ts';
import { folders, readRunning } from './state.ts';

const log = console.log;

interface UpOptions {
  readonly port: number;
  /** The backend that the command line names; empty if none. */
  readonly wanted: string;
  readonly without: string;
  readonly observe: boolean;
}

function readOptions(): UpOptions {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      backend: { type: 'string', default: '' },
      without: { type: 'string', default: '' },
      observe: { type: 'boolean', default: false },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1024 || port > 60_000) {
    throw new Error(`PORT must be an integer from 1024 to 60000, got "${values.port}"`);
  }
  const { backend: wanted, without, observe } = values;
  if (without && !OLD_VERSIONS.includes(without)) {
    throw new Error(`WITHOUT must be ${OLD_VERSIONS.join(' or ')}, got "${without}"`);
  }
  return { port, wanted, without, observe };
}

/** Whether Prometheus and Zipkin run: they stay until "make down". */
function isObserved(): boolean {
  return readRunning(folders.run).some(({ name }) => name === 'zipkin');
}

function runningBackend(): BackendName | undefined {
  if (readKind(folders.run)) return 'kind';
  return readRunning(folders.run).length > 0 ? 'processes' : undefined;
}

async function up(): Promise<void> {
  const { port, wanted, without, observe } = readOptions();
  checkServiceVariables(process.env);
  if (without) {
    process.env.WITHOUT_VERSION = without;
    log(`Without version ${without}: its paths respond with 410`);
  }
  const { name, why } = await chooseBackend({
    wanted,
    running: runningBackend(),
    env: process.env,
    log,
  });
  log(`Backend: ${name}, because ${why}`);
  const launch =
    name === 'processes'
      ? createLaunch({
          folders,
          port,
          stores: readStores(process.env),
          observe: observe || isObserved(),
          log,
        })
      : createKindLaunch(port, { folders, env: process.env, log });
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () =>
        reject(new Error('\nInterrupted: stopping what this run started')),
      );
    }
  });
  try {
    await Promise.race([launch.up(), interrupted]);
  } catch (error) {
    printError(error);
    await launch.undo().catch(printError);
    process.exit(1);
  }
  printAddresses(port);
}

function describeSystem(port: number): readonly string[] {
  const kind = readKind(folders.run);
  if (!kind) {
    const running = readRunning(folders.run);
    const ports = replicasOf(port)
      .filter((replica) => running.some(({ name }) => name === replica.name))
      .map((replica) => `${replica.name} :${replica.port}`);
    const addressOf = (observer: string) => running.find(({ name }) => name === observer)?.address;
    const [prometheus, zipkin] = [addressOf('prometheus'), addressOf('zipkin')];
    const stores = describeStores(readStores(process.env));
    return [
      `Replicas  ${ports.join(', ')}`,
      `Stores    ${stores}`,
      ...(prometheus && zipkin ? [`Metrics   ${prometheus}`, `Traces    ${zipkin}`] : []),
    ];
  }
  return [
    `Cluster   kind ${kind.name}, namespace ${PLACE.namespace}`,
    `          kubectl --kubeconfig .local/run/kubeconfig --namespace ${PLACE.namespace} get pods`,
  ];
}

function printAddresses(port: number): void {
  const origin = `http://localhost:${port}`;
  log(`
Open      ${origin}
Docs      ${origin}${SERVICE_NAMES.map((name) => `/docs/${name}`).join(', ')}
${describeSystem(port).join('\n')}

Try
  curl -X POST ${origin}/api/v2/users -H 'content-type: application/json' -d '{"name":"Grace","email":"grace@example.org"}'
  curl '${origin}/api/v2/catalog?q=turntable&sort=-price&limit=3'
  curl -H "Authorization: Bearer $(make --silent token)" ${origin}/api/v2/reports/overview

make token USER=ada TIER=pro prints a token, make logs follows the logs, make down stops everything
`);
}

function printError(error: unknown): void {
  console.error(error instanceof Error ? error.message : error);
}

ignoreClosedOutput();
try {
  await up();
} catch (error) {
  printError(error);
  process.exit(1);
}

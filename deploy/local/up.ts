import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';

import { OLD_VERSIONS, SERVICE_NAMES } from '../../services/services.ts';
import { type BackendName, chooseBackend } from './cluster/backend.ts';
import { PLACE } from './cluster/install.ts';
import { readKind } from './cluster/kind.ts';
import { createKindLaunch } from './cluster/launch.ts';
import { isObserved } from './observe/observers.ts';
import { ignoreClosedOutput } from './output.ts';
import { createLaunch } from './processes/launch.ts';
import { describeStores } from './processes/stores.ts';
import { replicasOf } from './processes/system.ts';
import { checkServiceVariables } from './service-variables.ts';
import { folders, readRunning } from './state.ts';

const log = console.log;

function readOptions() {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      backend: { type: 'string', default: '' },
      without: { type: 'string', default: '' },
      observe: { type: 'boolean' },
    },
  });
  const port = Number(values.port);
  if (!Number.isInteger(port) || port < 1024 || port > 60_000) {
    throw new Error(`PORT must be an integer from 1024 to 60000, got "${values.port}"`);
  }
  if (values.without && !OLD_VERSIONS.includes(values.without)) {
    throw new Error(`WITHOUT must be ${OLD_VERSIONS.join(' or ')}, got "${values.without}"`);
  }
  return { ...values, port };
}

function runningBackend(): BackendName | undefined {
  if (readKind(folders.run)) return 'kind';
  return readRunning(folders.run).length > 0 ? 'processes' : undefined;
}

async function up(): Promise<void> {
  const { port, backend: wanted, without, observe } = readOptions();
  checkServiceVariables(process.env);
  const env = { ...process.env, ...(without && { WITHOUT_VERSION: without }) };
  if (without) log(`Without version ${without}: its paths respond with 410`);
  const { name, why } = await chooseBackend({ wanted, running: runningBackend(), env, log });
  log(`Backend: ${name}, because ${why}`);
  const launch =
    name === 'processes'
      ? createLaunch({ folders, port, env, log, ...(observe && { observe }) })
      : createKindLaunch(port, { folders, env, log });
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

/** Lines about the replicas and observers of this machine, or about the cluster. */
function describeSystem(port: number): readonly string[] {
  const kind = readKind(folders.run);
  if (kind) {
    return [
      `Cluster   kind ${kind.name}, namespace ${PLACE.namespace}`,
      `          kubectl --kubeconfig .local/run/kubeconfig --namespace ${PLACE.namespace} get pods`,
    ];
  }
  const ports = replicasOf(port).map((replica) => `${replica.name} :${replica.port}`);
  const addressOf = (observer: string) =>
    readRunning(folders.run).find(({ name }) => name === observer)?.address;
  return [
    `Replicas  ${ports.join(', ')}`,
    `Stores    ${describeStores(process.env)}`,
    ...(isObserved(folders.run)
      ? [`Metrics   ${addressOf('prometheus')}`, `Traces    ${addressOf('zipkin')}`]
      : []),
  ];
}

/** The commands of README.md, for the system at `origin`. */
function commandsOf(origin: string): readonly string[] {
  const readme = fs.readFileSync(path.join(folders.root, 'README.md'), 'utf8');
  const commands = readme.match(/^curl .+$/gm) ?? [];
  const withToken = (command: string) =>
    process.env.AUTH === 'required' && !command.includes('Authorization')
      ? command.replace('curl', 'curl -H "Authorization: Bearer $(make --silent token)"')
      : command;
  return commands.map(
    (command) => `  ${withToken(command).replaceAll('http://localhost:8080', origin)}`,
  );
}

function printAddresses(port: number): void {
  const origin = `http://localhost:${port}`;
  log(`
Open      ${origin}
Docs      ${origin}${SERVICE_NAMES.map((name) => `/docs/${name}`).join(', ')}
${describeSystem(port).join('\n')}

Try
${commandsOf(origin).join('\n')}

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

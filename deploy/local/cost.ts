import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { readKind } from './cluster/kind.ts';
import { runProgram } from './cluster/program.ts';
import { capacityTable } from './cost/capacity.ts';
import { sendLoad, sendRequest } from './cost/load.ts';
import { compare, readPods, readProcesses } from './cost/usage.ts';
import { folders, readRunning } from './state.ts';
import { describeMachine } from './testing/machine.ts';
import { markdownTable, writeSection } from './testing/markdown.ts';
import { startTrialStores } from './testing/trial-stores.ts';

/** The page with the tables. */
const PAGE = path.join(folders.root, 'deploy/README.md');
/** Requests per second under load. */
const RATE = 200;
/** Seconds of each measurement, and those before the first one, in which caches and timers come to rest. */
const MEASURED_SECONDS = 40;
const REST_SECONDS = 20;

const FORMS = [
  { name: '`make up`', args: ['--backend', 'processes'] },
  { name: '`make observe`', args: ['--backend', 'processes', '--observe'] },
  { name: '`make up BACKEND=kind`', args: ['--backend', 'kind'] },
];

/** Starts the system with the arguments `args` of up.ts, runs `work` and stops the system. */
async function withSystem<T>(
  { port, args, env }: { port: string; args: readonly string[]; env?: NodeJS.ProcessEnv },
  work: () => Promise<T>,
): Promise<T> {
  const options = { env, signal: AbortSignal.timeout(1_200_000) };
  const program = (file: string, ...rest: readonly string[]) =>
    runProgram(process.execPath, [path.join(import.meta.dirname, file), ...rest], options);
  try {
    await program('up.ts', '--port', port, ...args);
    return await work();
  } finally {
    await program('down.ts');
  }
}

/** The row of a form, and its images, if it has any. */
async function measure(
  { name, args }: (typeof FORMS)[number],
  port: string,
): Promise<{ row: string[]; images: string }> {
  console.log(`${name}: starting`);
  const startedMs = performance.now();
  return withSystem({ port, args }, async () => {
    const seconds = (performance.now() - startedMs) / 1000;
    const isKind = readKind(folders.run) !== undefined;
    const read = isKind ? readPods : async () => readProcesses();
    await sleep(REST_SECONDS * 1000);
    const idle = await read();
    await sleep(MEASURED_SECONDS * 1000);
    const rested = await read();
    console.log(`${name}: sending ${RATE} requests per second`);
    const base = `http://localhost:${port}`;
    const created = await sendLoad(base, { rate: RATE, seconds: MEASURED_SECONDS });
    const loaded = await read();
    for (const location of created) await sendRequest(base, { method: 'DELETE', path: location });
    const [atRest, underLoad] = [compare(idle, rested), compare(rested, loaded)];
    const row = [
      ...[name, `${seconds.toFixed(0)} s`, String(rested.size)],
      ...[`${atRest.mebibytes} MiB`, `${underLoad.mebibytes} MiB`],
      ...[`${atRest.millicores} m`, `${underLoad.millicores} m`],
    ];
    return { row, images: isKind ? await describeImages() : '' };
  });
}

const HEAD = ['', 'Start', 'Parts', 'Memory', `At ${RATE}/s`, 'CPU', `At ${RATE}/s`];

/** The sizes of the images that `make up BACKEND=kind` has built, and of the layer that each has alone. */
async function describeImages(): Promise<string> {
  const sizes = SERVICE_NAMES.map(async (name) => {
    const history = ['history', '--human=false', '--format', '{{.Size}}', `fw-${name}:dev`];
    const layers = (await runProgram('docker', history)).split('\n').map(Number);
    const all = layers.reduce((sum, bytes) => sum + bytes, 0);
    const own = layers.find((bytes) => bytes > 0) ?? 0;
    return `${name} ${toMegabytes(all)}, of which ${toMegabytes(own)} in its own layer`;
  });
  return `Images: ${(await Promise.all(sizes)).join('; ')}.`;
}

function toMegabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Measures each form, and writes their table if none is left out. */
async function measureForms(port: string, withoutKind: boolean): Promise<void> {
  const results = [];
  for (const form of withoutKind ? FORMS.slice(0, -1) : FORMS) {
    results.push(await measure(form, port));
  }
  const table = markdownTable(
    HEAD,
    results.map(({ row }) => row),
  );
  const parts = [describeMachine(), table, ...results.map(({ images }) => images)];
  const text = parts.filter(Boolean).join('\n\n');
  console.log(`\n${text}`);
  if (!withoutKind) writeSection(PAGE, 'cost', text);
}

/** Measures what a process of each service can serve with PostgreSQL and Redis, as in production. */
async function measureCapacities(port: string): Promise<void> {
  const stores = await startTrialStores();
  try {
    const env = { ...process.env, ...stores.variables };
    const system = { port, args: ['--backend', 'processes'], env };
    const table = await withSystem(system, () => capacityTable(Number(port)));
    const text = `${describeMachine()}\n\n${table}`;
    console.log(`\n${text}`);
    writeSection(PAGE, 'capacity', text);
  } finally {
    await stores.stop();
  }
}

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      port: { type: 'string', default: '8080' },
      'without-kind': { type: 'boolean', default: false },
      only: { type: 'string' },
    },
  });
  if (values.only !== undefined && values.only !== 'capacity') {
    throw new Error(`ONLY is "${values.only}": expected capacity`);
  }
  if (readRunning(folders.run).length > 0 || readKind(folders.run)) {
    throw new Error('Cannot measure a system that has served requests: run "make down" first');
  }
  if (!values.only) await measureForms(values.port, values['without-kind']);
  await measureCapacities(values.port);
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

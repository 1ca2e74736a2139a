import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';

import { SERVICE_NAMES } from '../../services/services.ts';
import { clusterOf, PLACE } from './cluster/install.ts';
import { readKind } from './cluster/kind.ts';
import { runProgram } from './cluster/program.ts';
import { readStat } from './processes/process.ts';
import { folders, readRunning } from './state.ts';
import { describeMachine } from './testing/machine.ts';
import { markdownTable, writeSection } from './testing/markdown.ts';
import { issueToken, readOrCreateSecret } from './token.ts';

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

/** CPU time and memory of one process group or pod. */
interface Usage {
  readonly cpuSeconds: number;
  /** When they were read, in seconds. */
  readonly at: number;
  readonly memoryBytes: number;
}

type Usages = ReadonlyMap<string, Usage>;

/** What the processes of the local system use, by name. Linux only: reads /proc (proc(5)). */
function readProcesses(): Usages {
  const names = new Map(readRunning(folders.run).map(({ pid, name }) => [pid, name]));
  const usages = new Map<string, Usage>();
  const ticks = Number(execFileSync('getconf', ['CLK_TCK']));
  for (const pid of fs.readdirSync('/proc').map(Number).filter(Number.isInteger)) {
    const fields = readStat(pid);
    const name = names.get(Number(fields[2])); // of the process group
    if (name === undefined) continue;
    const [, kilobytes] = /^Pss:\s+(\d+)/m.exec(readIfPresent(`/proc/${pid}/smaps_rollup`)) ?? [];
    const before = usages.get(name) ?? { cpuSeconds: 0, memoryBytes: 0 };
    usages.set(name, {
      cpuSeconds: before.cpuSeconds + (Number(fields[11]) + Number(fields[12])) / ticks,
      at: performance.now() / 1000,
      memoryBytes: before.memoryBytes + Number(kilobytes ?? 0) * 1024,
    });
  }
  return usages;
}

/** The text of a file of a process, which may have ended. */
function readIfPresent(file: string): string {
  try {
    return fs.readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

/** The part of the kubelet's summary that is used (kubelet stats v1alpha1). */
interface Summary {
  readonly pods: readonly {
    readonly podRef: { readonly name: string; readonly namespace: string };
    readonly cpu?: { readonly time: string; readonly usageCoreNanoSeconds?: number };
    readonly memory?: { readonly workingSetBytes?: number };
  }[];
}

/** What the pods of the platform use, by name. */
async function readPods(): Promise<Usages> {
  const { kubectl } = clusterOf(folders.run, AbortSignal.timeout(30_000));
  const nodes = await kubectl(['get', 'nodes', '--output=jsonpath={.items[*].metadata.name}']);
  const usages = new Map<string, Usage>();
  for (const node of nodes.split(' ')) {
    const text = await kubectl(['get', '--raw', `/api/v1/nodes/${node}/proxy/stats/summary`]);
    for (const { podRef, cpu, memory } of (JSON.parse(text) as Summary).pods) {
      if (podRef.namespace !== PLACE.namespace || !cpu) continue;
      usages.set(podRef.name, {
        cpuSeconds: (cpu.usageCoreNanoSeconds ?? 0) / 1e9,
        at: Date.parse(cpu.time) / 1000,
        memoryBytes: memory?.workingSetBytes ?? 0,
      });
    }
  }
  return usages;
}

/** The CPU use between two readings, in thousandths of a core, and the memory at the second. */
function compare(before: Usages, after: Usages): { millicores: number; mebibytes: number } {
  let millicores = 0;
  let bytes = 0;
  for (const [name, { cpuSeconds, at, memoryBytes }] of after) {
    const earlier = before.get(name);
    if (earlier && at > earlier.at) {
      millicores += (1000 * (cpuSeconds - earlier.cpuSeconds)) / (at - earlier.at);
    }
    bytes += memoryBytes;
  }
  return { millicores: Math.round(millicores), mebibytes: Math.round(bytes / 1024 ** 2) };
}

/**
 * Sends `RATE` requests per second through the edge: a list of users, a page of the catalog, a new user, and a report
 * that calls both services. Returns the paths of the new users.
 *
 * @throws {Error} if a response is not a success
 */
async function sendLoad(base: string, seconds: number): Promise<string[]> {
  const secret = readOrCreateSecret(folders.run);
  const run = Date.now();
  const created: string[] = [];
  const send = async (index: number): Promise<void> => {
    const user = `cost-${run}-${index}`;
    const requests = [
      () => request(`${base}/api/v2/users?limit=20`),
      () => request(`${base}/api/v2/catalog?limit=20`),
      async () => {
        const headers = { 'content-type': 'application/json' };
        const body = JSON.stringify({ name: user, email: `${user}@example.org` });
        const { location } = await request(`${base}/api/v2/users`, {
          method: 'POST',
          headers,
          body,
        });
        created.push(location);
      },
      () => {
        const authorization = `Bearer ${issueToken({ secret, user, tier: 'free' })}`;
        return request(`${base}/api/v2/reports/overview`, { headers: { authorization } });
      },
    ];
    await requests[index % requests.length]?.();
  };
  const startedMs = performance.now();
  const sent: Promise<void>[] = [];
  while (sent.length < RATE * seconds) {
    const due = Math.min(RATE * seconds, ((performance.now() - startedMs) / 1000) * RATE);
    while (sent.length < due) sent.push(send(sent.length));
    await Promise.race([sleep(5), Promise.all(sent)]);
  }
  await Promise.all(sent);
  return created;
}

async function request(url: string, init: RequestInit = {}): Promise<{ location: string }> {
  const response = await fetch(url, { ...init, signal: AbortSignal.timeout(10_000) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${url} responded with ${response.status}: ${text}`);
  return { location: response.headers.get('location') ?? '' };
}

/** The row of a form, and its images, if it has any. */
async function measure(
  { name, args }: (typeof FORMS)[number],
  port: number,
): Promise<{ row: string[]; images: string }> {
  const signal = AbortSignal.timeout(1_200_000);
  const program = (file: string, ...rest: readonly string[]) =>
    runProgram(process.execPath, [path.join(import.meta.dirname, file), ...rest], { signal });
  console.log(`${name}: starting`);
  const startedMs = performance.now();
  try {
    await program('up.ts', '--port', String(port), ...args);
    const seconds = (performance.now() - startedMs) / 1000;
    const isKind = readKind(folders.run) !== undefined;
    const read = isKind ? readPods : async () => readProcesses();
    await sleep(REST_SECONDS * 1000);
    const idle = await read();
    await sleep(MEASURED_SECONDS * 1000);
    const rested = await read();
    console.log(`${name}: sending ${RATE} requests per second`);
    const base = `http://localhost:${port}`;
    const created = await sendLoad(base, MEASURED_SECONDS);
    const loaded = await read();
    for (const location of created) await request(base + location, { method: 'DELETE' });
    const [atRest, underLoad] = [compare(idle, rested), compare(rested, loaded)];
    const row = [
      ...[name, `${seconds.toFixed(0)} s`, String(rested.size)],
      ...[`${atRest.mebibytes} MiB`, `${underLoad.mebibytes} MiB`],
      ...[`${atRest.millicores} m`, `${underLoad.millicores} m`],
    ];
    return { row, images: isKind ? await describeImages() : '' };
  } finally {
    await program('down.ts');
  }
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

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string', default: '8080' }, 'without-kind': { type: 'boolean' } },
  });
  if (readRunning(folders.run).length > 0 || readKind(folders.run)) {
    throw new Error('Cannot measure a system that has served requests: run "make down" first');
  }
  const results = [];
  for (const form of values['without-kind'] ? FORMS.slice(0, -1) : FORMS) {
    results.push(await measure(form, Number(values.port)));
  }
  const table = markdownTable(
    HEAD,
    results.map(({ row }) => row),
  );
  const section = [describeMachine(), table, ...results.map(({ images }) => images)];
  const text = section.filter(Boolean).join('\n\n');
  console.log(`\n${text}`);
  if (!values['without-kind']) {
    writeSection(path.join(folders.root, 'deploy/README.md'), 'cost', text);
  }
}

if (import.meta.main) {
  try {
    await main();
  } catch (error) {
    console.error(error instanceof Error ? error.message : error);
    process.exitCode = 1;
  }
}

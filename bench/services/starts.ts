import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { buildService } from '@fw/service/build';

import { freePort } from '../listening.ts';
import { MEASURED_CORE, startProcess, stopProcess } from '../process.ts';
import { bundle } from '../start/bundle.ts';
import { median, rotate } from '../statistics.ts';
import { SERVICES, type ServiceName } from './endpoint.ts';

/** A program that is started: raw Node, or a service as `make up` runs it. */
interface Program {
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Whether it is ready; it does not get ready if there is nothing to ask. */
  readonly isReady?: () => Promise<boolean>;
}

/** What the services are measured against: a server by hand, which does as little as one can. */
export const RAW_SERVER = 'raw node:http';

/** How a program starts, in medians. */
export interface StartResult {
  readonly name: string;
  readonly readyMs: number | undefined;
  /** Resident memory once it idles. */
  readonly idleMiB: number;
}

const ROOT = resolve(import.meta.dirname, '../..');
const PATIENCE_MS = 10_000;
const IDLE_MS = 300;

/** Starts each program some times, all in turn in each round. */
export async function measureStarts(
  rounds: number,
  directory: string,
): Promise<readonly StartResult[]> {
  const programs = [
    { name: 'node alone', args: ['--eval', 'setInterval(() => {}, 1e9)'], env: {} },
    await rawServer(directory),
    ...(await Promise.all(SERVICES.map((service) => bundledService(service, directory)))),
  ] satisfies Program[];
  const results = programs.map((program: Program) => ({
    program,
    readyMs: [] as number[],
    idleMiB: [] as number[],
  }));
  // The first round fills the caches of the disk, and the stores.
  for (let round = 0; round <= rounds; round++) {
    process.stderr.write(`services, start, ${round === 0 ? 'warm-up' : `${round} of ${rounds}`}\n`);
    for (const { program, readyMs, idleMiB } of rotate(results, round)) {
      const measured = await startOnce(program);
      if (round === 0) continue;
      if (program.isReady) readyMs.push(measured.readyMs);
      idleMiB.push(measured.idleMiB);
    }
  }
  return results.map(({ program: { name }, readyMs, idleMiB }) => ({
    name,
    readyMs: readyMs.length > 0 ? median(readyMs) : undefined,
    idleMiB: median(idleMiB),
  }));
}

async function rawServer(directory: string): Promise<Program> {
  const port = await freePort();
  const file = await bundle('raw', 'CommonJS', directory);
  return {
    name: RAW_SERVER,
    args: [file, String(port)],
    env: {},
    // The first answer takes memory too; the services have given theirs by then.
    isReady: () => answersOk(`http://127.0.0.1:${port}/`),
  };
}

async function bundledService(service: ServiceName, directory: string): Promise<Program> {
  // As far below the root as where it is from, so that it finds its data.
  const folder = join(directory, 'services', service);
  mkdirSync(folder, { recursive: true });
  const outfile = join(folder, 'dist/main.js');
  await buildService({ entry: `services/${service}/src/main.ts`, outfile, root: ROOT });
  const [port, healthPort] = [await freePort(), await freePort()];
  return {
    name: service,
    args: [outfile],
    env: {
      PORT: String(port),
      HEALTH_PORT: String(healthPort),
      ...variablesOf(service, folder),
    },
    isReady: () => answersOk(`http://127.0.0.1:${healthPort}/readyz`),
  };
}

function variablesOf(service: ServiceName, folder: string): Readonly<Record<string, string>> {
  if (service === 'reports') return { JWT_SECRET: 'nobody signs anything with this secret' };
  const file = { DATABASE_FILE: join(folder, 'data.db') };
  if (service === 'users') return file;
  return { ...file, DATA_FILE: join(ROOT, 'services/catalog/data/items.ndjson') };
}

async function startOnce({ name, args, env, isReady }: Program) {
  const begin = performance.now();
  const child = startProcess([process.execPath, ...args], { core: MEASURED_CORE, env });
  let complaint = '';
  child.stdout?.resume();
  child.stderr?.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  try {
    while (isReady && !(await isReady())) {
      if (child.exitCode !== null || performance.now() - begin > PATIENCE_MS) {
        throw new Error(`${name} does not start: ${complaint || 'it is silent'}`);
      }
      await sleep(1);
    }
    const readyMs = performance.now() - begin;
    await sleep(IDLE_MS);
    return { readyMs, idleMiB: residentMiB(child.pid ?? 0) };
  } finally {
    await stopProcess(child);
  }
}

async function answersOk(url: string): Promise<boolean> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.ok;
  } catch {
    return false;
  }
}

function residentMiB(pid: number): number {
  const kibibytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kibibytes) / 1024;
}

import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { stop } from 'esbuild';

import { SERVICE_NAMES, type ServiceName } from '../../../services/services.ts';
import { buildService } from '../build.ts';
import {
  collectorUrl,
  isObserved,
  observerLinks,
  observerPorts,
  planObservers,
} from '../observe/observers.ts';
import { endOfLog } from '../output.ts';
import { keepVariables } from '../service-variables.ts';
import { type Folders, readRunning, writeRecords } from '../state.ts';
import { keepSecret, readOrCreateSecret } from '../token.ts';
import { planDevelopment } from './development.ts';
import { edgeLimitsOf, planEdge } from './edge.ts';
import { requireFreePort } from './ports.ts';
import type { ProcessPlan, ProcessRecord } from './process.ts';
import {
  createPrivateFolder,
  isRunning,
  startProcess,
  stopProcess,
  waitUntilReady,
} from './process.ts';
import { requireReachable } from './stores.ts';
import { planReplica, replicasOf, upstreamsOf } from './system.ts';

export interface LaunchOptions {
  readonly folders: Folders;
  /** The edge's port; the services use the following ports. */
  readonly port: number;
  /** The variables of the services: each gets those that it declares. */
  readonly env: NodeJS.ProcessEnv;
  /** Also runs Prometheus and Zipkin, to which the services send spans. Default: whether they run already. */
  readonly observe?: boolean;
  /** The service that runs from its source, as one replica that restarts after each change. Default: none. */
  readonly development?: ServiceName;
  /** Builds the bundles of the services. Default: all of them. */
  readonly build?: () => Promise<unknown>;
  /** Receives a line of progress. */
  readonly log: (line: string) => void;
}

/** A start of the system on a backend. */
export interface Launch {
  /** Starts what does not run, and restarts what changed. @throws {Error} if the system does not become ready */
  up(): Promise<void>;
  /** Stops what `up` started. */
  undo(): Promise<void>;
}

/** The limit of the wait for the edge. */
const EDGE_WAIT_MS = 5_000;

/** Builds the bundle of every service. */
export async function buildServices(): Promise<void> {
  await Promise.all(SERVICE_NAMES.map(buildService));
  // Ctrl-C would end the process of esbuild, and the next build would fail.
  await stop();
}

/** Prepares the start of the system as processes of this machine. */
export function createLaunch(options: LaunchOptions): Launch {
  const { folders, port, env, development, build = buildServices, log } = options;
  const { observe = isObserved(folders.run) } = options;
  const started: ProcessRecord[] = [];

  async function up(): Promise<void> {
    await requireReachable(env);
    const start = performance.now();
    await build();
    log(`Built the services in ${secondsSince(start)}`);
    const plans = await planSystem();

    const running = readRunning(folders.run);
    const isCurrent = ({ name, fingerprint }: ProcessRecord) =>
      plans.some((plan) => plan.name === name && plan.fingerprint === fingerprint);
    const current = running.filter(isCurrent);
    const outdated = running.filter((record) => !current.includes(record));
    const missing = plans.filter(({ name }) => !current.some((record) => record.name === name));
    if (missing.length === 0 && outdated.length === 0) return log('Already running');

    const ours = running.flatMap(({ ports }) => ports);
    for (const { name, ports } of missing) {
      for (const one of ports) if (!ours.includes(one)) await requireFreePort(one, name);
    }
    if (outdated.length > 0) {
      log(`Restarting after a change: ${outdated.map(({ name }) => name).join(', ')}`);
      await stopAll(outdated);
      writeRecords(folders.run, current);
    }
    await Promise.all(missing.map((plan) => startOne(plan, current)));
    if (outdated.length > 0) await waitForEdge();
  }

  /** The edge sends 503 for a second if a client has reached none of the replicas while they restarted. */
  async function waitForEdge(): Promise<void> {
    const isServed = async (name: string) => {
      const response = await fetch(`http://127.0.0.1:${port}/docs/${name}`);
      await response.body?.cancel();
      return response.status < 500;
    };
    const endMs = performance.now() + EDGE_WAIT_MS;
    while (performance.now() < endMs) {
      const served = await Promise.all(SERVICE_NAMES.map(isServed));
      if (served.every(Boolean)) return;
      await sleep(100);
    }
  }

  async function planSystem(): Promise<ProcessPlan[]> {
    createPrivateFolder(folders.data);
    if (env.JWT_SECRET) keepSecret(folders.run, env.JWT_SECRET);
    else readOrCreateSecret(folders.run);
    keepVariables(folders.run, env);
    const isFirst = (name: string) => name === `${development}-1`;
    // nginx never pauses the only server of an upstream, as it does after a failed request to one of several.
    const replicas = replicasOf(port).filter(
      ({ name, service }) => service !== development || isFirst(name),
    );
    const observers = observe
      ? await planObservers({ folders, edgePort: port, replicas, log })
      : [];
    const options = {
      ...{ folders, env, edgePort: port },
      collectorUrl: observe ? collectorUrl(port) : undefined,
    };
    return [
      ...observers,
      ...replicas.map((replica) =>
        isFirst(replica.name) ? planDevelopment(replica, options) : planReplica(replica, options),
      ),
      planEdge({
        nginx: 'nginx',
        port,
        upstreams: upstreamsOf(replicas),
        prefix: path.join(folders.run, 'nginx'),
        limits: edgeLimitsOf(env),
        replicas,
        links: observe ? observerLinks(port) : {},
        statsdPort: observe ? observerPorts(port).edgeExporter : undefined,
      }),
    ];
  }

  async function startOne(plan: ProcessPlan, current: readonly ProcessRecord[]): Promise<void> {
    const logFile = path.join(folders.logs, `${plan.name}.log`);
    const start = performance.now();
    const { record, child } = await startProcess(plan, logFile);
    started.push(record);
    writeRecords(folders.run, [...current, ...started]);
    try {
      await waitUntilReady(record);
    } catch (cause) {
      const code = child.exitCode === null ? '' : ` (exit code ${child.exitCode})`;
      const { message } = cause as Error;
      const reason = `${message}${code}\n${endOfLog(logFile)}`;
      throw new Error(`Cannot start ${plan.name}: ${reason}`, { cause });
    }
    log(`  ${plan.name.padEnd(10)} ready on ${plan.address} after ${secondsSince(start)}`);
  }

  async function undo(): Promise<void> {
    await stopAll(started);
    const left = readRunning(folders.run);
    if (left.length > 0) writeRecords(folders.run, left);
    else fs.rmSync(folders.run, { recursive: true, force: true });
  }

  return { up, undo };
}

/**
 * Stops every process of the system and removes its files; with `clean` the data too.
 * Returns the number of processes.
 *
 * @throws {Error} naming each process that does not end; the files then stay
 */
export async function stopSystem(folders: Folders, { clean = false } = {}): Promise<number> {
  const running = readRunning(folders.run);
  await stopAll(running);
  const left = running.filter(isRunning).map(({ name, pid }) => `${name} (process ${pid})`);
  if (left.length > 0) throw new Error(`Cannot stop ${left.join(', ')}`);
  for (const folder of [folders.run, folders.logs, ...(clean ? [folders.data] : [])]) {
    fs.rmSync(folder, { recursive: true, force: true });
  }
  return running.length;
}

/** Stops the edge first, so that it sends no request to a service that is stopping. */
async function stopAll(records: readonly ProcessRecord[]): Promise<void> {
  await Promise.all(records.filter(({ name }) => name === 'edge').map((one) => stopProcess(one)));
  await Promise.all(records.map((record) => stopProcess(record)));
}

function secondsSince(start: number): string {
  return `${((performance.now() - start) / 1000).toFixed(1)} s`;
}

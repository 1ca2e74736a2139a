import fs from 'node:fs';
import path from 'node:path';

import { SERVICE_NAMES } from '../../../services/services.ts';
import { buildService } from '../build.ts';
import type { Folders } from '../state.ts';
import { readRunning, writeRecords } from '../state.ts';
import { readOrCreateSecret } from '../token.ts';
import { ensureTool } from '../tools.ts';
import { edgeLimitsOf, planEdge, turnEdge } from './edge.ts';
import { requireFreePort } from './ports.ts';
import type { ProcessPlan, ProcessRecord } from './process.ts';
import { startProcess, stopProcess, waitUntilReady } from './process.ts';
import { keepStores, requireReachable, type Stores } from './stores.ts';
import { planReplica, replicasOf, upstreamsOf } from './system.ts';

export interface LaunchOptions {
  readonly folders: Folders;
  /** The edge's port; the services take those that follow it. */
  readonly port: number;
  /** Default: SQLite and memory. */
  readonly stores?: Stores;
  /** Brings the services' bundles up to date. Default: builds them. */
  readonly build?: () => Promise<unknown>;
  /** Is told what happens, a line at a time. */
  readonly say: (line: string) => void;
}

/** One way from whatever runs to what the sources describe. */
export interface Launch {
  /**
   * Brings the whole system up, and touches nothing that already is as it has to be.
   *
   * @throws {Error} if a store is away, a port is taken or a process does not become ready; what was started goes on
   */
  up(): Promise<void>;
  /** Stops what `up` started. */
  takeBack(): Promise<void>;
}

/** Bundles every service. */
export function buildServices(): Promise<unknown> {
  return Promise.all(SERVICE_NAMES.map(buildService));
}

/** Prepares the start of the system. */
export function createLaunch({
  folders,
  port,
  stores = {},
  build = buildServices,
  say,
}: LaunchOptions): Launch {
  const started: ProcessRecord[] = [];

  async function up(): Promise<void> {
    await requireReachable(stores);
    const built = performance.now();
    await build();
    say(`Building the services: ${secondsSince(built)}`);
    const nginx = ensureTool('nginx');
    fs.mkdirSync(folders.data, { recursive: true });
    readOrCreateSecret(folders.run);
    keepStores(folders.run, stores);

    const replicas = replicasOf(port);
    const upstreams = upstreamsOf(replicas);
    const prefix = path.join(folders.run, 'nginx');
    const services = replicas.map((replica) =>
      planReplica(replica, { folders, stores, edgePort: port }),
    );
    const edge = planEdge({ nginx, port, upstreams, prefix, limits: edgeLimitsOf(process.env) });

    const running = readRunning(folders.run);
    const kept = running.filter((record) => isWanted(record, [...services, edge]));
    const missing = (plan: ProcessPlan) => !kept.some((record) => record.name === plan.name);
    const toStart = services.filter(missing);
    const runningEdge = kept.find(({ name }) => name === edge.name);

    if (toStart.length === 0 && runningEdge) {
      say('Already running');
      return;
    }
    await requireFreePorts([...toStart, edge].filter(missing), running);
    if (runningEdge) {
      await replace(toStart, running, (away) =>
        turnEdge(runningEdge, { prefix, upstreams, ...away }),
      );
    } else {
      const stale = running.filter((record) => !kept.includes(record));
      await Promise.all(stale.map((record) => stopProcess(record)));
      writeRecords(folders.run, kept);
      await Promise.all([...toStart, edge].map((plan) => start(plan, kept)));
    }
  }

  /**
   * Starts `plans` one after another, each in place of what runs under its name, while the edge
   * sends the requests to the other replicas.
   */
  async function replace(
    plans: readonly ProcessPlan[],
    running: readonly ProcessRecord[],
    turn: (away: { away?: number }) => Promise<void>,
  ): Promise<void> {
    let others = running;
    for (const plan of plans) {
      const old = others.find(({ name }) => name === plan.name);
      others = others.filter((record) => record !== old);
      if (old) {
        say(`Replacing ${plan.name}`);
        await turn({ away: Number(new URL(old.address).port) });
        await stopProcess(old);
      }
      await start(plan, others);
    }
    await turn({});
  }

  async function start(plan: ProcessPlan, kept: readonly ProcessRecord[]): Promise<void> {
    const logFile = path.join(folders.logs, `${plan.name}.log`);
    const begun = performance.now();
    const { record, child } = await startProcess(plan, logFile);
    started.push(record);
    writeRecords(folders.run, [...kept, ...started]);
    try {
      await waitUntilReady(record);
    } catch (error) {
      const code = child.exitCode === null ? '' : ` (exit code ${child.exitCode})`;
      const reason = error instanceof Error ? error.message : String(error);
      const message = `Cannot start ${plan.name}: ${reason}${code}\n${lastLines(logFile)}`;
      throw new Error(message, { cause: error });
    }
    say(`  ${plan.name.padEnd(10)} ready on ${plan.address} after ${secondsSince(begun)}`);
  }

  function lastLines(logFile: string): string {
    if (!fs.existsSync(logFile)) return '';
    const lines = fs.readFileSync(logFile, 'utf8').trimEnd().split('\n').slice(-10);
    return [
      `The last lines of ${path.relative(folders.root, logFile)}:`,
      ...lines.map((line) => `  ${line}`),
    ].join('\n');
  }

  async function takeBack(): Promise<void> {
    await Promise.all(started.map((record) => stopProcess(record)));
    const left = readRunning(folders.run);
    if (left.length > 0) writeRecords(folders.run, left);
    else fs.rmSync(folders.run, { recursive: true, force: true });
  }

  return { up, takeBack };
}

/** Whether a running process is what one of `plans` asks for. */
function isWanted(record: ProcessRecord, plans: readonly ProcessPlan[]): boolean {
  return plans.some(
    ({ name, fingerprint }) => name === record.name && fingerprint === record.fingerprint,
  );
}

async function requireFreePorts(
  plans: readonly ProcessPlan[],
  running: readonly ProcessRecord[],
): Promise<void> {
  const ours = new Set(running.flatMap(({ ports }) => ports));
  for (const { name, ports } of plans) {
    for (const port of ports) {
      if (!ours.has(port)) await requireFreePort(port, name);
    }
  }
}

function secondsSince(begun: number): string {
  return `${((performance.now() - begun) / 1000).toFixed(1)} s`;
}

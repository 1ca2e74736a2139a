import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { isReady } from '../../../deploy/local/processes/process.ts';
import { replicasOf } from '../../../deploy/local/processes/system.ts';
import { measureCapacity } from '../../../deploy/local/testing/closed-loop.ts';
import { startTrialEdge } from '../../../deploy/local/testing/trial-edge.ts';
import { startTrialSystem } from '../../../deploy/local/testing/trial-system.ts';
import { findTool } from '../../../tools/programs.ts';
import { createUsers } from '../create-users.ts';
import { startGateway } from './gateway.ts';
import { type LoadResult, OUTCOMES, pickKind, type RequestKind } from './generator.ts';
import {
  CLIENT_CORE,
  type LoadSummary,
  pinThisProcess,
  runLoad,
  SERVICE_CORE,
  servedShare,
  summarize,
} from './load.ts';

/** The edge, the gateways, and one replica of each service; all services on one core. */
export interface Experiment {
  /** Requests per second that the system can serve. */
  measureCapacity(way: Way): Promise<number>;
  /** Sends load for `seconds`, followed by that of `recovery`. */
  run(load: Load): Promise<Measurement>;
  stop(): Promise<void>;
}

/** Where the requests are sent: to the edge, to Traefik, or directly to the replica of users. */
export type Way = 'edge' | 'gateway with limit' | 'gateway' | 'directly';

/** The path of Traefik; undefined if this machine has none. */
export const TRAEFIK = findTool('traefik');

export interface Load {
  readonly way: Way;
  readonly perSecond: number;
  readonly seconds: number;
  /** The rate of the requests that follow. Default: none follow. */
  readonly recovery?: { readonly perSecond: number; readonly seconds: number };
}

export interface Measurement {
  readonly load: LoadSummary;
  readonly result: LoadResult;
  /** The share of critical requests that were served. */
  readonly critical: number;
  /** The share of health checks that were successful. */
  readonly health: number;
  /** The share of handled requests whose client had left before the response was sent. */
  readonly wasted: number;
}

/** The outcomes of clients that closed their connection. */
const LEFT = [OUTCOMES.indexOf('left'), OUTCOMES.indexOf('timedOut')];

/** The first second of a measurement does not count: connections are opened. */
const WARM_UP_MS = 1_000;
const CRITICAL_PER_SECOND = 50;
const USERS = 200;
const CAPACITY_SECONDS = 3;
const HEALTH_PERIOD_MS = 100;

/** All requests go to one service: the edge limits each by itself, and would change a mix of several. */
const KINDS: readonly RequestKind[] = [
  { name: 'list', weight: 90, method: 'GET', path: '/api/v2/users?limit=100' },
  {
    name: 'create',
    weight: 10,
    method: 'POST',
    path: '/api/v1/users',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  },
];

/** Starts the system with users in its store, and those gateways that are in `ways`. */
export async function startExperiment(ways: readonly Way[]): Promise<Experiment> {
  pinThisProcess(SERVICE_CORE);
  const system = await startTrialSystem();
  pinThisProcess(CLIENT_CORE);
  const replicas = replicasOf(system.port).filter(({ name }) => name.endsWith('-1'));
  const edge = await startTrialEdge(
    Object.fromEntries(replicas.map(({ service, port }) => [service, [port]])),
  );
  const ids = await createUsers(edge.origin, { count: USERS, name: 'Ada' });
  const critical = ids.map((id) => ({
    ...{ name: 'read', weight: 1, method: 'GET' },
    path: `/api/v2/users/${id}`,
  }));
  const healthUrls = replicas.flatMap(({ healthPort }) =>
    ['livez', 'readyz'].map((name) => `http://127.0.0.1:${healthPort}/${name}`),
  );
  const logs = replicas.map(({ name }) => path.join(system.folders.logs, `${name}.log`));
  const directly = replicas.find(({ service }) => service === 'users')?.port ?? 0;
  const start = (way: Way, isLimited: boolean) =>
    TRAEFIK && ways.includes(way)
      ? startGateway({ traefik: TRAEFIK, upstream: directly, isLimited })
      : undefined;
  const gateway = await start('gateway', false);
  const limited = await start('gateway with limit', true);
  const ports = {
    ...{ edge: Number(new URL(edge.origin).port), directly },
    ...{ gateway: gateway?.port ?? 0, 'gateway with limit': limited?.port ?? 0 },
  };
  let runs = 0;

  return {
    async measureCapacity(way) {
      const next = () => KINDS[pickKind(KINDS)] as RequestKind;
      const load = { port: ports[way], next, seconds: CAPACITY_SECONDS };
      return (await measureCapacity(load)).perSecond;
    },
    async run({ way, perSecond, seconds, recovery }) {
      const idPrefix = `run${runs++}`;
      const port = ports[way];
      const phases = [{ perSecond, seconds }, ...(recovery ? [recovery] : [])];
      const done = new AbortController();
      const checks = checkHealth(healthUrls, done.signal);
      const [result, criticalResult] = await Promise.all([
        runLoad({ port, kinds: KINDS, phases, idPrefix }),
        runLoad({
          ...{ port, kinds: critical, idPrefix: `${idPrefix}-critical`, impatientShare: 0 },
          phases: [{ perSecond: CRITICAL_PER_SECOND, seconds }],
        }),
      ]);
      done.abort();
      const endMs = seconds * 1_000;
      return {
        load: summarize(result, WARM_UP_MS, endMs),
        result,
        critical: servedShare(summarize(criticalResult, 0, endMs)),
        health: await checks,
        wasted: wastedShare(logs, idPrefix, result),
      };
    },
    async stop() {
      await Promise.all([edge.stop(), gateway?.stop(), limited?.stop()]);
      await system.stop();
    },
  };
}

/** Requests `urls` ten times per second until `signal` aborts; resolves with the share of 200 responses. */
async function checkHealth(urls: readonly string[], signal: AbortSignal): Promise<number> {
  const checks: Promise<boolean>[] = [];
  while (!signal.aborted) {
    checks.push(...urls.map((readyUrl) => isReady({ readyUrl })));
    await sleep(HEALTH_PERIOD_MS);
  }
  const results = await Promise.all(checks);
  return results.filter(Boolean).length / results.length;
}

/**
 * The share of the handled requests with the ids `<idPrefix>-<index>` whose client had left before the
 * response was sent, from the log files of services.
 */
function wastedShare(files: readonly string[], idPrefix: string, result: LoadResult): number {
  let handled = 0;
  let wasted = 0;
  for (const line of files.flatMap((file) => fs.readFileSync(file, 'utf8').split('\n'))) {
    if (!line.startsWith('{')) continue;
    const { requestId = '', route, status, time } = JSON.parse(line);
    const [, prefix, index] = /^(run\d+)-(\d+)$/.exec(requestId) ?? [];
    // Requests that were rejected before routing have no route.
    if (!route || status === 503 || prefix !== idPrefix) continue;
    handled++;
    if (hasLeft(result, Number(index), Date.parse(time))) wasted++;
  }
  return handled === 0 ? 0 : wasted / handled;
}

/** Whether the client of a request had left at a time of day. */
function hasLeft(result: LoadResult, index: number, atMs: number): boolean {
  const { startedAtMs, dueMs, latencyMs, outcome } = result;
  if (!LEFT.includes(outcome[index] ?? 0)) return false;
  return startedAtMs + (dueMs[index] ?? 0) + (latencyMs[index] ?? 0) < atMs;
}

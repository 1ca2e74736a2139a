import path from 'node:path';

import { replicasOf } from '../../../deploy/local/processes/system.ts';
import { startTrialEdge } from '../../../deploy/local/testing/trial-edge.ts';
import { startTrialSystem } from '../../../deploy/local/testing/trial-system.ts';
import { measureCapacity } from './capacity.ts';
import { CLIENT_CORE, pinThisProcess, SERVICE_CORE } from './cores.ts';
import type { LoadResult, RequestKind } from './generator.ts';
import { OUTCOMES } from './generator.ts';
import { checkHealth } from './health-checks.ts';
import { type LoadSummary, runLoad, servedShare, summarize } from './load.ts';
import { wastedShare } from './wasted-work.ts';

/** The edge and one replica of each service, all services on one core. */
export interface Experiment {
  /** Requests per second that the system can serve. */
  measureCapacity(way: Way): Promise<number>;
  /** Sends load for `seconds`, followed by that of `recovery`. */
  run(load: Load): Promise<Measurement>;
  stop(): Promise<void>;
}

/** Where the requests are sent: to the edge, or directly to the replica of users. */
export type Way = 'edge' | 'directly';

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

const JSON_TYPE = { 'Content-Type': 'application/json' };
/** All requests go to one service: the edge limits each by itself, and would change a mix of several. */
const KINDS: readonly RequestKind[] = [
  { name: 'list', weight: 90, method: 'GET', path: '/api/v2/users?limit=100' },
  {
    name: 'create',
    weight: 10,
    method: 'POST',
    path: '/api/v1/users',
    headers: JSON_TYPE,
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  },
];

/** Starts the system with users in its store. */
export async function startExperiment(): Promise<Experiment> {
  pinThisProcess(SERVICE_CORE);
  const system = await startTrialSystem();
  pinThisProcess(CLIENT_CORE);
  const replicas = replicasOf(system.port).filter(({ name }) => name.endsWith('-1'));
  const portOf = (wanted: string) => replicas.find(({ service }) => service === wanted)?.port ?? 0;
  const edge = await startTrialEdge({
    users: [portOf('users')],
    catalog: [portOf('catalog')],
    reports: [portOf('reports')],
  });
  const ids = await Promise.all(Array.from({ length: USERS }, () => createUser(edge.origin)));
  const critical = ids.map((id) => ({
    ...{ name: 'read', weight: 1, method: 'GET' },
    path: `/api/v2/users/${id}`,
  }));
  const health = replicas.flatMap(({ healthPort }) =>
    ['livez', 'readyz'].map((name) => `http://127.0.0.1:${healthPort}/${name}`),
  );
  const logs = replicas.map(({ name }) => path.join(system.folders.logs, `${name}.log`));
  let runs = 0;

  const ports = { edge: Number(new URL(edge.origin).port), directly: portOf('users') };

  async function run({ way, perSecond, seconds, recovery }: Load): Promise<Measurement> {
    const idPrefix = `run${runs++}`;
    const done = new AbortController();
    const checks = checkHealth(health, done.signal);
    const phases = [{ perSecond, seconds }];
    const port = ports[way];
    const [result, criticalResult] = await Promise.all([
      runLoad({ port, kinds: KINDS, phases: recovery ? [...phases, recovery] : phases, idPrefix }),
      runLoad({
        ...{ port, kinds: critical, idPrefix: `${idPrefix}-critical`, impatientShare: 0 },
        phases: [{ perSecond: CRITICAL_PER_SECOND, seconds }],
      }),
    ]);
    done.abort();
    const endMs = seconds * 1_000;
    const hasLeft = (id: string, atMs: number) => {
      const index = Number(id.slice(idPrefix.length + 1));
      if (!LEFT.includes(result.outcome[index] ?? 0)) return false;
      const leftMs = (result.dueMs[index] ?? 0) + (result.latencyMs[index] ?? 0);
      return result.startedAtMs + leftMs < atMs;
    };
    const isOfRun = (id: string) => /^run\d+-\d+$/.test(id) && id.startsWith(`${idPrefix}-`);
    return {
      load: summarize(result, WARM_UP_MS, endMs),
      result,
      critical: servedShare(summarize(criticalResult, 0, endMs)),
      health: await checks,
      wasted: wastedShare(logs, { isOfRun, hasLeft }),
    };
  }

  async function stop(): Promise<void> {
    await edge.stop();
    await system.stop();
  }
  return {
    measureCapacity: (way) =>
      measureCapacity({ port: ports[way], kinds: KINDS, seconds: CAPACITY_SECONDS }),
    run,
    stop,
  };
}

async function createUser(origin: string): Promise<string> {
  const response = await fetch(`${origin}/api/v1/users`, {
    method: 'POST',
    headers: JSON_TYPE,
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  });
  const { data } = (await response.json()) as { data: { id: string } };
  return data.id;
}

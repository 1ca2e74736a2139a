import path from 'node:path';

import { replicasOf } from '../../../deploy/local/processes/system.ts';
import { startTrialEdge } from '../../../deploy/local/testing/trial-edge.ts';
import { startTrialSystem } from '../../../deploy/local/testing/trial-system.ts';
import { CLIENT_CORE, pinThisProcess, SERVICE_CORE } from './cores.ts';
import type { LoadResult, RequestKind } from './generator.ts';
import { OUTCOMES } from './generator.ts';
import { checkHealth } from './health-checks.ts';
import { type LoadSummary, runLoad, servedShare, summarize } from './load.ts';
import { wastedShare } from './wasted-work.ts';

/** The edge and one replica of each service, all services on one core. */
export interface Experiment {
  /** Sends load for `seconds`, followed by that of `then`. */
  run(load: Load): Promise<Measurement>;
  stop(): Promise<void>;
}

export interface Load {
  readonly perSecond: number;
  readonly seconds: number;
  /** Sends to the replica instead of the edge. Default false. */
  readonly isDirect?: boolean;
  /** The rate of the requests that follow. Default: none follow. */
  readonly then?: { readonly perSecond: number; readonly seconds: number };
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
  const edgePort = Number(new URL(edge.origin).port);
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

  async function run({ perSecond, seconds, isDirect = false, then }: Load): Promise<Measurement> {
    const idPrefix = `run${runs++}`;
    const done = new AbortController();
    const checks = checkHealth(health, done.signal);
    const phases = [{ perSecond, seconds }];
    const port = isDirect ? portOf('users') : edgePort;
    const [result, criticalResult] = await Promise.all([
      runLoad({ port, kinds: KINDS, phases: then ? [...phases, then] : phases, idPrefix }),
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
  return { run, stop };
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

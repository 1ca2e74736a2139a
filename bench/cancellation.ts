import { setTimeout as sleep } from 'node:timers/promises';

import { startPostgres } from '@fw/service/testing/postgres';
import pg from 'pg';

import { markdownTable } from '../deploy/local/testing/markdown.ts';
import { leave, openClients, startSlowService } from './cancellation/clients.ts';
import { loadContestants, namesWith } from './contestant.ts';
import { startContestant } from './contestant-process.ts';
import { readSettings } from './options.ts';
import { publish } from './report.ts';
import { CASES, type Case, type Running, SLOW_QUERY } from './work.ts';

const PACKAGES = [
  ...['pg', 'express', 'fastify', '@fastify/websocket', 'h3', 'hono', '@hono/node-server', 'ws'],
  ...['koa', '@koa/router'],
];

/** Clients that are connected at the same time. */
const WAVE = 100;
/** The queries that pg and @fw/service/postgres run at once by default; the others wait. */
const POOL_SIZE = 10;
const DELAY_MS = 100;
/** What still runs then is counted again: on a busy machine, cancelled work needs time to end. */
const SECOND_DELAY_MS = 1_000;

/** Time limit for the requests of a wave to start, and for their work to end before the next wave. */
const MAX_WAIT_MS = 10_000;

/** What runs in the process of a contestant, in PostgreSQL and in the slow service. */
interface Counts extends Running {
  readonly queries: number;
  readonly calls: number;
}

/** Sums over the clients of one case. */
interface Result {
  readonly soon: Counts;
  readonly later: Counts;
  /** Connections of clients that are in memory at the end, open or not. */
  readonly connections: number;
}

/** Lets clients leave while their requests run, and reports what still runs afterwards. */
export async function runCancellation(args: readonly string[]): Promise<void> {
  const contestants = await loadContestants();
  const settings = readSettings(args, {
    summary: 'Compares the work that still runs after clients have left.',
    names: { only: { help: 'contestants', known: namesWith(contestants, 'stream') } },
    counts: {
      clients: { help: 'clients of each contestant, divided among the cases', default: 10_000 },
    },
  });
  if (!settings) return;
  const clients = Math.ceil(settings.counts.clients / CASES.length);
  const results: Record<string, Partial<Record<Case, Result>>> = {};
  const systems = await startSystems();
  try {
    for (const name of settings.names.only) {
      const own: Partial<Record<Case, Result>> = {};
      results[name] = own;
      for (const what of CASES.filter((each) => contestants.get(name)?.routes.includes(each))) {
        own[what] = await measure(systems, { name, what, clients });
        process.stderr.write(`cancellation, ${what}: ${name} ${JSON.stringify(own[what])}\n`);
      }
    }
  } finally {
    await systems.stop();
  }
  const rows = Object.entries(results).map(([name, own]) => [
    name,
    ...CASES.map((what) => textOf(own[what])),
  ]);
  const lines = [
    `Of ${clients} requests per column, those that still run ${DELAY_MS} ms after the client has left; where it differs, → and those after another second. A request runs while its handler, source, query or call does. In brackets: connections of clients that are still in memory.`,
    markdownTable(['', ...CASES], rows),
  ];
  publish(
    { name: 'cancellation', packages: PACKAGES, lines, data: { clients, results } },
    settings,
  );
}

function textOf(result: Result | undefined): string {
  if (!result) return '';
  const [soon, later] = [requestsOf(result.soon), requestsOf(result.later)];
  const kept = result.connections > 0 ? ` (${result.connections} in memory)` : '';
  return `${soon === later ? soon : `${soon} → ${later}`}${kept}`;
}

/** A request has at most one of each: a query has a handler, too. */
function requestsOf({ handlers, sources, queries, calls }: Counts): number {
  return Math.max(handlers, sources, queries, calls);
}

type Systems = Awaited<ReturnType<typeof startSystems>>;

/** Starts PostgreSQL and the slow service. */
async function startSystems() {
  const postgres = await startPostgres();
  const service = await startSlowService();
  const client = new pg.Client(postgres.url);
  await client.connect();
  const condition = `FROM pg_stat_activity WHERE state = 'active' AND query = '${SLOW_QUERY}'`;
  return {
    addresses: { postgresUrl: postgres.url, serviceUrl: service.url },
    async count() {
      const { rowCount } = await client.query(`SELECT pid ${condition}`);
      return { queries: rowCount ?? 0, calls: service.open.size };
    },
    async release() {
      await client.query(`SELECT pg_cancel_backend(pid) ${condition}`);
      service.release();
    },
    async stop() {
      await client.end();
      service.stop();
      await postgres.stop();
    },
  };
}

/** The clients leave in waves; what still runs is counted and released before the next one. */
async function measure(
  systems: Systems,
  { name, what, clients }: { name: string; what: Case; clients: number },
): Promise<Result> {
  const server = await startContestant(name, [what], {
    isMemoryMeasured: true,
    ...systems.addresses,
  });
  await server.request('watchConnections');
  const count = async (): Promise<Counts> => {
    return { ...(await server.request('running')), ...(await systems.count()) };
  };
  /** Ends what waits, until nothing changes; sources that the framework never ends remain. */
  const waitForIdle = async (): Promise<Counts> => {
    const until = Date.now() + MAX_WAIT_MS;
    for (let previous = ''; ; await sleep(20)) {
      await systems.release();
      const now = await count();
      const isIdle = now.handlers + now.queries + now.calls === 0;
      if ((isIdle && JSON.stringify(now) === previous) || Date.now() > until) return now;
      previous = JSON.stringify(now);
    }
  };
  const waitForWork = async (missing: (now: Counts) => number): Promise<void> => {
    const until = Date.now() + MAX_WAIT_MS;
    for (;;) {
      const left = missing(await count());
      if (left <= 0) return;
      if (Date.now() > until) throw new Error(`${name}, ${what}: ${left} requests do not start`);
      await sleep(5);
    }
  };
  const key = KEYS[what];
  const queries = what === 'query' ? POOL_SIZE : 0;
  const soon = { handlers: 0, sources: 0, queries: 0, calls: 0 };
  const later = { ...soon };
  try {
    for (let done = 0; done < clients; done += WAVE) {
      const wave = Math.min(WAVE, clients - done);
      const before = await waitForIdle();
      const sockets = openClients(server.port, what, wave);
      await waitForWork((now) =>
        Math.max(before[key] + wave - now[key], Math.min(queries, wave) - now.queries),
      );
      leave(sockets);
      await sleep(DELAY_MS);
      if (add(soon, await count(), before) === 0) continue;
      await sleep(SECOND_DELAY_MS);
      add(later, await count(), before);
    }
    await waitForIdle();
    return { soon, later, connections: await server.request('connections') };
  } finally {
    await server.stop();
    await systems.release();
  }
}

/** Adds what runs now and did not run before; returns how much that is. */
function add(sums: Record<keyof Counts, number>, now: Counts, before: Counts): number {
  let added = 0;
  for (const key of Object.keys(sums) as (keyof Counts)[]) {
    sums[key] += now[key] - before[key];
    added += now[key] - before[key];
  }
  return added;
}

/** What counts the requests of a case once they run. */
const KEYS = {
  body: 'handlers',
  query: 'handlers',
  call: 'calls',
  stream: 'sources',
  events: 'sources',
  websocket: 'sources',
} as const satisfies Record<Case, keyof Counts>;

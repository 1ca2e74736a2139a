import { createMetrics } from '@fw/service';
import { listen } from 'fw';

import { createTasksApp } from '../../framework/create/template/src/app.ts';
import { openSqliteTaskStore } from '../../framework/create/template/src/store/sqlite.ts';
import { createStallWatch } from '../../framework/service/src/app/stall-watch.ts';
import { serveParent } from '../measured.ts';

/** What the process sends when it listens. */
export interface Ready {
  readonly port: number;
  /** The path of a task. */
  readonly path: string;
}

/** CPU times per request of the turns without and with the watch, in microseconds; neighbours form a pair. */
export interface Turns {
  readonly without: readonly number[];
  readonly with: readonly number[];
}

/** The interval of the watch, which begins with each turn. */
const TURN_MS = 1_000;

/** A turn with fewer requests is not measured. */
const MIN_REQUESTS = 100;

let requests = 0;
const logger = { info() {}, warn() {}, error() {}, request: () => void requests++ };
const metrics = createMetrics();
const watch = createStallWatch({ logger, metrics });
let isWatched = false;

const app = createTasksApp({
  store: openSqliteTaskStore(':memory:'),
  logger,
  metrics,
  shedding: { maxInFlight: 1_000 },
  requestTimeoutMs: 10_000,
  stalls: { ...watch, run: (ctx, next) => (isWatched ? watch.run(ctx, next) : next()) },
});
const { port } = await listen(app, 0);
const path = '/api/v1/tasks';
const response = await fetch(`http://127.0.0.1:${port}${path}`, {
  method: 'POST',
  headers: { 'Content-Type': 'application/json' },
  body: '{"title":"Write the report"}',
});
const { data } = (await response.json()) as { data: { id: string } };

const turns = { without: [] as number[], with: [] as number[] };
let before = process.cpuUsage();
setInterval(() => {
  const { user, system } = process.cpuUsage(before);
  if (requests >= MIN_REQUESTS) {
    turns[isWatched ? 'with' : 'without'].push((user + system) / requests);
  }
  isWatched = !isWatched;
  if (isWatched) watch.start();
  else watch.stop();
  requests = 0;
  before = process.cpuUsage();
}, TURN_MS);

serveParent({ port, path: `${path}/${data.id}` } satisfies Ready, () => turns);

import { request } from '@fw/core/testing';
import { createMetrics } from '@fw/service';

import { createTasksApp } from '../../framework/create/template/src/app.ts';
import { openSqliteTaskStore } from '../../framework/create/template/src/store/sqlite.ts';
import { createStallWatch } from '../../framework/service/src/app/stall-watch.ts';
import type { Variants } from './server.ts';

/** The service of create-fw with one task, with and without the watch for stalls. */
export async function createVariants(): Promise<Variants<'without' | 'with'>> {
  const logger = { info() {}, warn() {}, error() {}, request() {} };
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
  const path = '/api/v1/tasks';
  const json = { title: 'Write the report' };
  const response = await request(app, path, { method: 'POST', json });
  const { data } = (await response.json()) as { data: { id: string } };
  const task = { path: `${path}/${data.id}` };
  return {
    app,
    requests: { without: task, with: task },
    switchTo(name) {
      if (isWatched === (name === 'with')) return;
      isWatched = !isWatched;
      if (isWatched) watch.start();
      else watch.stop();
    },
  };
}

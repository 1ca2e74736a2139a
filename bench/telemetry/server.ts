/*
 * The catalog service with one variant of telemetry: `node server.ts <variant> <database> <collector>`.
 * Its parent measures it.
 */
import { registerHooks } from 'node:module';

import { readConfig, type ServiceRuntime } from '@fw/service';

import { serveMeasured } from '../measured.ts';
import type { Variant } from './variants.ts';

const [name, DATABASE_FILE, collector = ''] = process.argv.slice(2);
const variant = name as Variant;

/** Replaces `observe`: the id of a request is a promised header and no telemetry. */
const WITHOUT_TELEMETRY = `export const observe = () => (ctx, next) => {
  ctx.set('X-Request-Id', ctx.requestId);
  return next();
};`;

if (variant === 'none') {
  registerHooks({
    load: (url, context, load) =>
      url.endsWith('/service/src/app/observe.ts')
        ? { format: 'module', source: WITHOUT_TELEMETRY, shortCircuit: true }
        : load(url, context),
  });
}

await serveMeasured(async () => {
  const { createLogger, createMetrics } = await import('@fw/service');
  const { startTracing } = await import('../../framework/service/src/tracing/start-tracing.ts');
  const { createCatalogApp } = await import('@fw/catalog/src/app.ts');
  const { VARIABLES } = await import('@fw/catalog/src/config.ts');
  const { fillIfEmpty } = await import('@fw/catalog/src/fill.ts');
  const { openImport, openStore } = await import('@fw/catalog/src/store/open.ts');
  const { listen } = await import('fw');
  const config = readConfig(VARIABLES, { DATABASE_FILE });
  const silent = { info() {}, warn() {}, error() {} };
  const store = await openStore(config);
  const { signal } = new AbortController();
  const file = config.DATA_FILE;
  await fillIfEmpty({ store, openImport: () => openImport(config), file, logger: silent, signal });
  const hasLog = variant === 'log' || variant === 'tracing';
  const runtime: ServiceRuntime = {
    logger: hasLog ? createLogger('catalog') : silent,
    requestTimeoutMs: config.REQUEST_TIMEOUT_MS,
    ...(variant !== 'none' && { metrics: createMetrics({ hasProcessMetrics: true }) }),
    ...(variant === 'tracing' && {
      tracing: await startTracing({ service: 'catalog', endpoint: collector }),
    }),
  };
  const { port } = await listen(createCatalogApp({ ...runtime, store }), { port: 0 });
  return port;
});

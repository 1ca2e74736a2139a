import { randomUUID } from 'node:crypto';

import { type FastifyInstance, type FastifyServerOptions, LogController } from 'fastify';
import pino from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client';

/** The options of a fastify server in production: one log line per request, ids, a time-out. */
export const PRODUCTION_OPTIONS: FastifyServerOptions = {
  routerOptions: { compile: true },
  // One line per request, as in @fw/service, instead of fastify's two.
  logController: new LogController({ disableRequestLogging: true }),
  // pino's documentation recommends buffered, asynchronous output for speed.
  logger: { level: 'info', stream: pino.destination({ sync: false, minLength: 4096 }) },
  requestIdHeader: 'x-request-id',
  genReqId: () => randomUUID(),
  handlerTimeout: 20_000,
};

/** Adds a log line, a counter, a histogram, a gauge and `GET /metrics`, as prom-client documents it. */
export function observe(app: FastifyInstance): void {
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({ name: 'http_requests_total', help: 'Requests', labelNames });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its response',
    labelNames,
  });
  const inFlight = new Gauge({ name: 'http_requests_in_flight', help: 'Requests in flight' });
  collectDefaultMetrics();

  app.addHook('onRequest', (request, reply, done) => {
    inFlight.inc();
    reply.header('x-request-id', request.id);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    inFlight.dec();
    const { method } = request;
    const { statusCode: status, elapsedTime: durationMs } = reply;
    const route = request.routeOptions.url ?? 'none';
    const labels = { method, route, status: `${Math.floor(status / 100)}xx` };
    requests.inc(labels);
    durations.observe(labels, durationMs / 1_000);
    const traceId = request.headers.traceparent?.toString().slice(3, 35);
    request.log.info({ method, route, status, durationMs, traceId }, 'request');
    done();
  });
  app.get('/metrics', async (_request, reply) => {
    return reply.type(register.contentType).send(await register.metrics());
  });
}

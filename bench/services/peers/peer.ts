import { randomUUID } from 'node:crypto';

import Fastify, {
  type FastifyInstance,
  type FastifyReply,
  type FastifyServerOptions,
  LogController,
} from 'fastify';
import { validatorCompiler } from 'fastify-type-provider-zod';
import pino from 'pino';
import { Counter, collectDefaultMetrics, Gauge, Histogram } from 'prom-client';

/** How a service is written on fastify: its routes, over the store that the original has too. */
export type Routes<Store> = (app: FastifyInstance, store: Store) => void | Promise<void>;

const PLAIN: FastifyServerOptions = {
  trustProxy: (_address, hop) => hop < 1,
  routerOptions: { compile: true },
  // A line of our own per request, in place of two.
  logController: new LogController({ disableRequestLogging: true }),
};

/**
 * Fastify as one runs it: compiled router, bodies checked by zod, answers written by the serializers
 * that it compiles from their schemas. `isProduction` adds what every service has in production: a
 * line of log, metrics, a request id and a time-out for each request.
 */
export function createPeer(isProduction: boolean): FastifyInstance {
  const app = Fastify(isProduction ? { ...PLAIN, ...forProduction() } : PLAIN);
  app.setValidatorCompiler(validatorCompiler);
  app.setErrorHandler((error, request, reply) => {
    const status = statusOf(error);
    const detail = error instanceof Error && status < 500 ? error.message : 'Internal Server Error';
    sendProblem(reply, { status, detail, requestId: request.id });
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store');
    done();
  });
  if (isProduction) observe(app);
  return app;
}

function forProduction(): FastifyServerOptions {
  return {
    // As pino's documentation has it for speed: lines are gathered and written in the background.
    logger: { level: 'info', stream: pino.destination({ sync: false, minLength: 4096 }) },
    requestIdHeader: 'x-request-id',
    genReqId: () => randomUUID(),
    handlerTimeout: 20_000,
  };
}

/** A status by its meaning, or 400 for what the schemas refuse. */
function statusOf(error: unknown): number {
  if (typeof error !== 'object' || error === null) return 500;
  if ('status' in error) return Number(error.status);
  if ('statusCode' in error) return Number(error.statusCode);
  return 'validation' in error ? 400 : 500;
}

function sendProblem(
  reply: FastifyReply,
  problem: { readonly status: number; readonly detail: string; readonly requestId: string },
): void {
  reply.code(problem.status).type('application/problem+json').send(JSON.stringify(problem));
}

function observe(app: FastifyInstance): void {
  const labelNames = ['method', 'route', 'status'] as const;
  const requests = new Counter({ name: 'http_requests_total', help: 'Requests', labelNames });
  const durations = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from a request to its answer',
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
    const route = request.routeOptions.url ?? 'none';
    const labels = { method, route, status: `${Math.floor(reply.statusCode / 100)}xx` };
    requests.inc(labels);
    durations.observe(labels, reply.elapsedTime / 1000);
    const { statusCode: status, elapsedTime: durationMs } = reply;
    request.log.info({ method, route, status, durationMs }, 'request');
    done();
  });
}

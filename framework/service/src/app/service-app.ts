import { type Application, createApp } from 'fw';

import { type ProtectOptions, protect } from './protect.ts';

/** What the process provides to its application. All members are optional, for tests. */
export interface ServiceRuntime extends ProtectOptions {
  /** The service's name. */
  readonly name?: string;
  /** Aborts when the service starts to close its connections: then close WebSockets. */
  readonly closing?: AbortSignal;
  /** Number of trusted proxies in front of the service. Default 0. */
  readonly trustProxy?: number;
}

/**
 * Creates an application with the middleware of every service, which `protect` lists in its order.
 * Responses have `Cache-Control: no-store` unless a route sets another value.
 */
export function createServiceApp(runtime: ServiceRuntime = {}): Application {
  const { logger, trustProxy = 0, requestTimeoutMs = 0 } = runtime;
  const { outermost, inner } = protect(runtime);
  const app = createApp({
    trustProxy,
    deadlineMs: requestTimeoutMs,
    outermost,
    ...(logger && { logger }),
  });
  return app.use(...inner);
}

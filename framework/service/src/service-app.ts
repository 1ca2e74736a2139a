import { type Application, createApp, errorHandler, type Logger } from 'fw';

import type { Drain } from './drain.ts';

/** What a process gives each of its applications. Default: as in a test, on its own. */
export interface ServiceEdge {
  readonly logger?: Logger;
  readonly drain?: Drain;
  /** How many proxies in front of the service are ours. Default 0. */
  readonly trustProxy?: number;
  /** Adds stacks to error answers. Default false. */
  readonly includeStack?: boolean;
}

/** Creates an application with the middleware that comes first in every service, in this order. */
export function createServiceApp(edge: ServiceEdge = {}): Application {
  const { logger, drain, trustProxy = 0, includeStack = false } = edge;
  const app = createApp({ trustProxy, ...(logger && { logger }) });
  app.use(errorHandler({ includeStack }));
  app.use((ctx, next) => {
    ctx.set('X-Request-Id', ctx.requestId);
    return next();
  });
  if (drain) app.use(drain.closeConnections);
  return app;
}

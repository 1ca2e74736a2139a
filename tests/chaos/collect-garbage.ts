import { subscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';

/**
 * Loaded with `node --expose-gc --import`: collects all garbage before the metrics are read, so that the
 * heap size in them is the memory in use.
 */
subscribe('http.server.request.start', (message) => {
  const { request } = message as { readonly request: IncomingMessage };
  if (request.url === '/metrics') globalThis.gc?.();
});

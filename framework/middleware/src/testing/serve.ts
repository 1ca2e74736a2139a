import { type Application, type ListenOptions, listen } from '@fw/core';
import { openConnection } from '@fw/core/testing';
import { onTestFinished } from 'vitest';

/** Serves `app` until the test ends. */
export async function serve(app: Application, options: Partial<ListenOptions> = {}) {
  const server = await listen(app, { port: 0, ...options });
  onTestFinished(() => server.close({ timeoutMs: 1 }));
  /** Opens a connection and sends these bytes. */
  const open = (bytes: string) => openConnection(server.port).send(bytes);
  /** Sends a GET request on a connection, which the server then closes. */
  const get = (target = '/') =>
    open(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`);
  return { ...server, open, get };
}

import { onTestFinished } from 'vitest';

import { type Application, createApp } from '../application.ts';
import type { Middleware } from '../context.ts';
import { type ListeningServer, type ListenOptions, listen } from '../server/listen.ts';
import { quiet } from './log.ts';
import { openConnection } from './raw-connection.ts';

/** A request for `/` whose connection stays open. */
export const GET = 'GET / HTTP/1.1\r\nHost: a\r\n\r\n';

/**
 * Serves `app`, or an application without a log that has only this middleware, on a free port until
 * the end of the test.
 */
export async function serve(
  app: Application | Middleware,
  options: Partial<ListenOptions> = {},
): Promise<ListeningServer> {
  const served = typeof app === 'function' ? createApp({ logger: quiet }).use(app) : app;
  const server = await listen(served, { port: 0, ...options });
  onTestFinished(() => server.close({ timeoutMs: 1 }));
  return server;
}

/** Sends `bytes` on a connection, and resolves with what is received until the server closes it. */
export async function exchange(port: number, bytes: string): Promise<string> {
  const connection = openConnection(port).send(bytes);
  const received = await connection.readAll();
  connection.close();
  return received;
}

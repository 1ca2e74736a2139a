import { once } from 'node:events';

import { type Application, createApp, type Middleware } from '@fw/core';
import type { StandardSchema } from '@fw/core/schema';
import { recordLog } from '@fw/core/testing';
import { expect, onTestFinished } from 'vitest';
import { type ClientOptions, WebSocket } from 'ws';
import { serve } from '../../../core/src/testing/vitest.ts';
import { type WebSocketOptions, websocket } from '../websocket/websocket.ts';

export type AnyOptions = WebSocketOptions<Record<never, never>, undefined>;

/** A server with the route `/rooms/:id`, or with those that `prepare` adds. */
export async function start(route: Middleware, prepare: (app: Application) => unknown = () => {}) {
  const { logger, problems, errors } = recordLog();
  const app = createApp({ logger });
  prepare(app);
  app.get('/rooms/:id', route);
  return { ...(await serve(app)), problems, errors };
}

/** A client; `next` resolves with the messages in their order, `closed` with code and reason. */
export function connect(
  { port }: { readonly port: number },
  options: ClientOptions & { path?: string } = {},
) {
  const { path = '/rooms/7', ...rest } = options;
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, rest);
  onTestFinished(() => socket.terminate());
  const messages: string[] = [];
  socket.on('message', (data) => messages.push(String(data)));
  socket.on('error', () => {});
  const rejected = once(socket, 'unexpected-response').then(([, response]) => response);
  const closed = once(socket, 'close').then(([code, reason]) => [code, String(reason)]);
  const next = async () => {
    await expect.poll(() => messages.length, { interval: 2 }).toBeGreaterThan(0);
    return messages.shift();
  };
  const opened = once(socket, 'open');
  for (const outcome of [opened, rejected, closed]) outcome.catch(() => {});
  return { socket, opened, rejected, closed, next };
}

export function statusOf({ opened, rejected }: ReturnType<typeof connect>): Promise<number> {
  return Promise.race([opened.then(() => 101), rejected.then(({ statusCode }) => statusCode)]);
}

/** A server with this route, and a connected client. */
export async function open<Schema extends StandardSchema | undefined = undefined>(
  options: WebSocketOptions<Record<never, never>, Schema>,
) {
  const server = await start(websocket(options));
  const client = connect(server);
  await client.opened;
  return { server, ...client };
}

export const echo = websocket({ message: (client, message) => client.send(message) });

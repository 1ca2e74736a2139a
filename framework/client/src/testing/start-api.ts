import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

import { onTestFinished } from 'vitest';

/** A request that a fake API received. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Sends the response to a request. */
export type Responder = (res: ServerResponse, received: Received) => void;

/** Starts an API whose requests get the responses of `responders` in turn; the last one repeats. */
export async function startApi(...responders: readonly Responder[]) {
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    const { method = '', url = '', headers } = req;
    const next = { method, url, headers, body: await text(req) };
    responders[Math.min(received.push(next), responders.length) - 1]?.(res, next);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

/** Sends JSON with this status and these headers. */
export function sendJson(
  value: unknown,
  {
    status = 200,
    type = 'application/json',
    ...headers
  }: Readonly<Record<string, string | number>> = {},
): Responder {
  return (res) => {
    res.writeHead(Number(status), { 'Content-Type': type, ...headers });
    res.end(JSON.stringify(value));
  };
}

/** Sends a status without a body. */
export function sendStatus(
  status: number,
  headers: Readonly<Record<string, string>> = {},
): Responder {
  return (res) => {
    res.writeHead(status, headers).end();
  };
}

/** A port that refuses connections. */
export async function closedPort(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return String(port);
}

export const hangUp: Responder = (res) => res.destroy();
export const neverRespond: Responder = () => {};

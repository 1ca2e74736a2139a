import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';

import type { Case } from '../work.ts';

const UPGRADE = [
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==',
];

/** Clients that send a request and read nothing. The body of `body` is incomplete. */
export function openClients(port: number, name: Case, count: number): readonly Socket[] {
  const body = ['Content-Type: application/octet-stream', 'Content-Length: 1000'];
  const more = { body, websocket: UPGRADE }[name as string] ?? [];
  const lines = [`${name === 'body' ? 'POST' : 'GET'} /${name} HTTP/1.1`, 'Host: bench', ...more];
  const request = `${lines.join('\r\n')}\r\n\r\n${name === 'body' ? 'x'.repeat(500) : ''}`;
  return Array.from({ length: count }, () => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(request);
    return socket;
  });
}

/** Every second client resets its connection, the others close it. */
export function leave(clients: readonly Socket[]): void {
  for (const [index, socket] of clients.entries()) {
    if (index % 2 === 0) socket.resetAndDestroy();
    else socket.destroy();
  }
}

/** Starts a service that responds only when it is released. */
export async function startSlowService() {
  const open = new Set<ServerResponse>();
  const server = createServer((_req, res) => {
    open.add(res.once('close', () => open.delete(res)));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    open,
    release: () => open.forEach((res) => void res.end()),
    stop: () => server.close().closeAllConnections(),
  };
}

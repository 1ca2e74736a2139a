import net from 'node:net';

import { isPortFree } from '../processes/ports.ts';

/** Listens on a free port of the loopback address; returns the port. */
export async function listenAnywhere(server: net.Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Cannot read the port');
  return address.port;
}

/** A free port. */
export async function freePort(): Promise<number> {
  const server = net.createServer();
  const port = await listenAnywhere(server);
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A port for which all `offsets` are free, below the range of automatically assigned ports. */
export async function freePortsFrom(offsets: readonly number[]): Promise<number> {
  for (;;) {
    const base = 10_000 + Math.floor(Math.random() * 20_000);
    const free = await Promise.all(offsets.map((offset) => isPortFree(base + offset)));
    if (free.every(Boolean)) return base;
  }
}

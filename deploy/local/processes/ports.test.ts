import net from 'node:net';
import { expect, test } from 'vitest';

import { isPortFree, portHolder } from './ports.ts';

async function listen(host: string): Promise<{ port: number; close: () => void }> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('Cannot read the port');
  return { port: address.port, close: () => server.close() };
}

test.each(['127.0.0.1', '0.0.0.0'])('a port of a server on %s is not free', async (host) => {
  const server = await listen(host);

  const free = await isPortFree(server.port);

  server.close();
  expect(free).toBe(false);
});

test('a port is free once its server is closed', async () => {
  const server = await listen('127.0.0.1');
  server.close();

  expect(await isPortFree(server.port)).toBe(true);
});

test('portHolder returns this process, or undefined if the system does not provide it', async () => {
  const server = await listen('127.0.0.1');

  const holder = await portHolder(server.port);

  server.close();
  expect(holder ?? `(process ${process.pid})`).toContain(`(process ${process.pid})`);
});

test('portHolder returns undefined for a free port', async () => {
  const server = await listen('127.0.0.1');
  server.close();

  expect(await portHolder(server.port)).toBeUndefined();
});

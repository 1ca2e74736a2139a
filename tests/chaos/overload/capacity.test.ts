import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';

import { measureCapacity } from './capacity.ts';

async function capacityOf(respond: RequestListener): Promise<number> {
  const server = createServer(respond).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  const kinds = [{ name: 'read', weight: 1, method: 'GET', path: '/' }];
  const capacity = await measureCapacity({ port, kinds, seconds: 1 });
  server.close();
  return capacity;
}

test('the capacity is the number of responses with 2xx per second', async () => {
  let served = 0;
  const capacity = await capacityOf((_, response) => {
    served++;
    response.end();
  });

  expect(capacity).toBeGreaterThan(0);
  // The first fifth of the second does not count.
  expect(capacity * 0.8).toBeLessThanOrEqual(served);
});

test('rejections do not count', async () => {
  expect(await capacityOf((_, response) => response.writeHead(503).end())).toBe(0);
});

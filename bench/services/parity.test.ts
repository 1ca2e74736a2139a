import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { ENDPOINTS, SERVICES } from './endpoints.ts';
import { startPair } from './pair.ts';
import { checkParity } from './parity.ts';

test.each(SERVICES)('%s and its copy on fastify send the same responses', async (name) => {
  const { servers, userIds } = await startPair(name, newFolder());
  onTestFinished(async () => {
    for (const server of servers) await server.stop();
  });

  for (const endpoint of ENDPOINTS.filter(({ service }) => service === name)) {
    const ports = [servers[0].port, servers[1].port] as const;
    await expect(checkParity(endpoint, userIds, ports)).resolves.toBeUndefined();
  }
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';

import { ENDPOINTS, SERVICES } from './endpoints.ts';
import { startPair } from './pair.ts';
import { checkParity } from './parity.ts';

test.each(SERVICES)('%s and its copy on fastify send the same responses', async (name) => {
  const directory = mkdtempSync(join(tmpdir(), 'parity-'));
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
  const { servers, userIds } = await startPair(name, directory);
  onTestFinished(async () => {
    for (const server of servers) await server.stop();
  });

  for (const endpoint of ENDPOINTS.filter(({ service }) => service === name)) {
    const ports = [servers[0].port, servers[1].port] as const;
    await expect(checkParity(endpoint, userIds, ports)).resolves.toBeUndefined();
  }
});

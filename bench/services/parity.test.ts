import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

import { buildService } from '@fw/service/build';
import { expect, onTestFinished, test } from 'vitest';

import { ENDPOINTS } from './endpoints.ts';
import { checkParity } from './parity.ts';
import { startServer } from './server.ts';

const SERVICES = [...new Set(ENDPOINTS.map(({ service }) => service))];
const ROOT = resolve(import.meta.dirname, '../..');

test.each(SERVICES)(
  '%s and the same endpoints on fastify send the same responses',
  async (name) => {
    const directory = mkdtempSync(join(tmpdir(), 'parity-'));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    const bundle = join(directory, 'main.js');
    await buildService({ root: ROOT, entry: `services/${name}/src/main.ts`, outfile: bundle });
    const databaseFile = join(directory, 'data.db');
    const ours = await startServer({ service: name, databaseFile, bundle });
    onTestFinished(() => ours.stop());
    const userIds = name === 'users' ? [await createUser(ours.port)] : [];
    const peer = await startServer({ service: name, databaseFile });
    onTestFinished(() => peer.stop());

    for (const endpoint of ENDPOINTS.filter(({ service }) => service === name)) {
      await expect(checkParity(endpoint, userIds, [ours.port, peer.port])).resolves.toBeUndefined();
    }
  },
);

async function createUser(port: number): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${port}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  });
  return ((await response.json()) as { data: { id: string } }).data.id;
}

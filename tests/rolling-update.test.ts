import fs from 'node:fs';
import path from 'node:path';
import { newFolder, startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { freePortsFrom } from '../deploy/local/testing/ports.ts';
import { allowLongRequests, startTrialEdge } from '../deploy/local/testing/trial-edge.ts';
import { runClient } from './rolling-update/client.ts';

/** `CLIENTS=1000 npx vitest run tests/rolling-update.test.ts` measures more. */
const CLIENTS = Number(process.env.CLIENTS ?? 60);
const SERVICE = new URL('rolling-update/src/service.ts', import.meta.url);
const BACK_MS = 5_000;

test('WebSockets live through a rolling update behind nginx', async () => {
  const folder = newFolder('rolling-update-');
  const received = path.join(folder, 'received');
  const base = await freePortsFrom([0, 1]);
  const ports = [base, base + 1];
  const startReplica = (port: number) =>
    startTestService(SERVICE, { PORT: String(port), RECEIVED: received, TRUST_PROXY: '1' });
  const replicas = await Promise.all(ports.map(startReplica));
  const edge = await startTrialEdge({ users: ports }, { prepare: allowLongRequests });
  onTestFinished(() => edge.stop());
  const url = `${edge.origin.replace('http', 'ws')}/api/v2/users/messages`;
  const stop = new AbortController();
  const clients = Array.from({ length: CLIENTS }, (_, name) =>
    runClient(url, String(name), stop.signal),
  );
  const lines = () => fs.readFileSync(received, 'utf8').split('\n');
  const isConnected = () => new Set(lines().map((id) => id.split('-')[0])).size > CLIENTS;
  await expect.poll(isConnected, { timeout: 60_000 }).toBe(true);

  const codes: (number | null)[] = [];
  for (const [at, port] of ports.entries()) {
    replicas[at]?.signal('SIGTERM');
    codes.push((await replicas[at]?.ended)?.code ?? null);
    await startReplica(port);
  }
  await new Promise((resolve) => setTimeout(resolve, BACK_MS));
  stop.abort();
  const records = await Promise.all(clients);

  const closes = records.flatMap((record) => record.codes);
  const absencesMs = records.flatMap((record) => record.absencesMs);
  const stored = new Set(lines());
  const confirmed = records.flatMap((record) => record.confirmed);
  console.log(
    `${CLIENTS} clients: ${closes.length} closes, longest absence ${Math.max(...absencesMs).toFixed(0)} ms, ${confirmed.length} confirmed messages`,
  );
  expect(codes).toEqual([0, 0]);
  expect(closes.length).toBeGreaterThanOrEqual(CLIENTS);
  expect(new Set(closes)).toEqual(new Set([1001]));
  expect(absencesMs).toHaveLength(closes.length);
  expect(Math.max(...absencesMs)).toBeLessThan(BACK_MS);
  expect(confirmed.filter((id) => !stored.has(id))).toEqual([]);
});

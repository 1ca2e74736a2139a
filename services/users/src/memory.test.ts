import { execFileSync } from 'node:child_process';
import { connect, type Socket } from 'node:net';

import { openDatabase } from '@fw/service/sqlite';
import type { ServiceProcess } from '@fw/service/testing';
import { startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { USERS_FORMAT } from './store/sqlite-migrations.ts';
import { newFile } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);

/** Users with names of the maximum length: as JSON, more than the heap. */
const TOTAL = 200_000;
const HEAP_MB = 128;

/** Starts the service with `count` users. */
async function start(count: number): Promise<ServiceProcess> {
  const file = newFile();
  fill(file, count);
  return startTestService(MAIN, {
    DATABASE_FILE: file,
    NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
  });
}

function fill(file: string, count: number): void {
  const database = openDatabase(file, USERS_FORMAT);
  database.exec(`
    INSERT INTO users (id, name, email, created_at, updated_at)
    WITH RECURSIVE n (at) AS (VALUES (1) UNION ALL SELECT at + 1 FROM n WHERE at < ${count})
    SELECT 'u' || at, replace(hex(zeroblob(100)), '00', '日日'), 'u' || at || '@example.com',
      1800000000000, 1800000000000
    FROM n`);
  database.close();
}

async function expectAlive({ healthUrl }: ServiceProcess): Promise<void> {
  expect((await fetch(`${healthUrl}/livez`)).status).toBe(200);
}

/** Resident memory of a process, in MB. */
function residentMb(pid: number): number {
  const kibibytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kibibytes) / 1024;
}

/** Sends a GET `times` times on one connection and reads nothing after the response starts. */
async function getWithoutReading(url: string, times = 1): Promise<Socket> {
  const { hostname, port, pathname, search } = new URL(url);
  const socket = connect(Number(port), hostname);
  onTestFinished(() => void socket.destroy());
  const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`;
  socket.write(request.repeat(times));
  await new Promise((resolve, reject) => {
    socket.once('readable', resolve).once('error', reject);
  });
  return socket;
}

test('the service sends a list that is larger than its heap', async () => {
  const service = await start(TOTAL);
  const { url, pid } = service;

  const all = await fetch(`${url}/api/v1/users`);
  let end = '';
  let bytes = 0;
  let isAlive = false;
  for await (const chunk of all.body ?? []) {
    bytes += chunk.length;
    end = (end + Buffer.from(chunk).toString('latin1')).slice(-100);
    if (!isAlive) await expectAlive(service);
    isAlive = true;
  }
  expect(bytes).toBeGreaterThan(HEAP_MB * 1024 ** 2);
  expect(end).toMatch(new RegExp(`\\],"total":${TOTAL}\\}$`));

  const idle = await Promise.all(
    Array.from({ length: 6 }, () => getWithoutReading(`${url}/api/v1/users`)),
  );
  await expectAlive(service);
  expect(idle).toHaveLength(6);
  expect(residentMb(pid)).toBeLessThan(400);
});

test('the service survives 100 clients that pipeline requests for the list and read no response', async () => {
  const service = await start(20_000);

  const clients = Array.from({ length: 100 }, () =>
    getWithoutReading(`${service.url}/api/v1/users`, 50),
  );
  await Promise.all(clients);

  await expectAlive(service);
  expect(residentMb(service.pid)).toBeLessThan(400);
});

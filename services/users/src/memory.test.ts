import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { openDatabase } from '@fw/service/sqlite';
import type { ServiceProcess } from '@fw/service/testing';
import { startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { USERS_FORMAT } from './store/sqlite-migrations.ts';

const MAIN = new URL('./main.ts', import.meta.url);

/** Users with long names, which the service stored before names had a length limit. */
const LARGE_USERS = 60;
const ORDINARY_USERS = 200_000;
const TOTAL = LARGE_USERS + ORDINARY_USERS;

/** The number of stored users, and an SQL expression for the name of user number `at`. */
interface Stored {
  readonly count: number;
  readonly name: string;
}

const LARGE_AND_ORDINARY: Stored = {
  count: TOTAL,
  name: `CASE WHEN at <= ${LARGE_USERS} THEN hex(zeroblob(500000)) ELSE 'User ' || at END`,
};

/** Users with names of the maximum length. */
const LARGEST: Stored = { count: 20_000, name: `replace(hex(zeroblob(100)), '00', '日日')` };

/** Starts the service with a heap that is smaller than the stored users. */
async function start(stored: Stored): Promise<ServiceProcess> {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'users.db');
  fill(file, stored);
  return startTestService(MAIN, {
    DATABASE_FILE: file,
    NODE_OPTIONS: '--max-old-space-size=128',
  });
}

function fill(file: string, { count, name }: Stored): void {
  const database = openDatabase(file, USERS_FORMAT);
  database.exec(`
    INSERT INTO users (id, name, email, created_at, updated_at)
    WITH RECURSIVE n (at) AS (VALUES (1) UNION ALL SELECT at + 1 FROM n WHERE at < ${count})
    SELECT 'u' || at, ${name}, 'u' || at || '@example.com', 1800000000000, 1800000000000
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

test('the service sends lists that are larger than its heap', async () => {
  const service = await start(LARGE_AND_ORDINARY);
  const { url, pid } = service;

  const page = await fetch(`${url}/api/v2/users?limit=100`);
  expect(page.status).toBe(200);
  const { data, meta } = (await page.json()) as { data: object[]; meta: { nextCursor?: string } };
  expect(data).toHaveLength(1);
  expect(meta.nextCursor).toBeDefined();

  const slice = await fetch(`${url}/api/v1/users?limit=100`);
  expect(slice.status).toBe(200);
  expect(((await slice.json()) as { data: object[] }).data).toHaveLength(100);

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
  expect(bytes).toBeGreaterThan(LARGE_USERS * 1_000_000);
  expect(end).toMatch(new RegExp(`\\],"total":${TOTAL}\\}$`));

  const idle = await Promise.all(
    ['/api/v1/users', '/api/v1/users?limit=100', '/api/v1/users'].flatMap((path) => [
      getWithoutReading(url + path),
      getWithoutReading(url + path),
    ]),
  );
  await expectAlive(service);
  expect(idle).toHaveLength(6);
  expect(residentMb(pid)).toBeLessThan(400);
});

test('the service survives 100 clients that pipeline requests for the list and read no response', async () => {
  const service = await start(LARGEST);

  const clients = Array.from({ length: 100 }, () =>
    getWithoutReading(`${service.url}/api/v1/users`, 50),
  );
  await Promise.all(clients);

  await expectAlive(service);
  expect(residentMb(service.pid)).toBeLessThan(400);
});

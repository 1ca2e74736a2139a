import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { expect, onTestFinished, test, vi } from 'vitest';

import { FULL } from './results.ts';

const USERS = new URL('../../services/users/src/main.ts', import.meta.url);
const PAGE = path.resolve(import.meta.dirname, '../../docs/operations/backup.md');
const CLIENTS = 16;

/** Users that are acknowledged before the backup begins. */
const COUNT = FULL ? 20_000 : 1_000;

type Variables = Readonly<Record<string, string>>;

interface User {
  readonly id: string;
}

/** The first two blocks of a section of the page: they write and read `users.backup`. */
function commandsOf(section: string): readonly [backup: string, restore: string] {
  const [, text = ''] = fs.readFileSync(PAGE, 'utf8').split(`\n## ${section}\n`);
  const [backup, restore] = [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block);
  return [backup!, restore!];
}

/** A new database, and how to lose it. */
const createDatabase = {
  async PostgreSQL() {
    const server = await startPostgres();
    return { variables: { DATABASE_URL: server.url }, lose: server.stop };
  },
  async SQLite(folder: string) {
    const data = fs.mkdtempSync(path.join(folder, 'data-'));
    const variables = { DATABASE_FILE: path.join(data, 'users.db') };
    return { variables, lose: async () => fs.rmSync(data, { recursive: true, force: true }) };
  },
};

/** Creates users until `stop`; `users` are those whose creation was acknowledged. */
function startClients(url: string) {
  const users: User[] = [];
  let isStopped = false;
  const create = async () => {
    while (!isStopped) {
      const email = `${crypto.randomUUID()}@example.org`;
      const response = await fetch(`${url}/api/v2/users`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ name: `Ada ${users.length} 🙂`, email }),
      });
      expect(response.status).toBe(201);
      users.push(((await response.json()) as { data: User }).data);
    }
  };
  const clients = Promise.all(Array.from({ length: CLIENTS }, create));
  const reach = (count: number) =>
    Promise.race([clients, vi.waitUntil(() => users.length >= count, { timeout: 120_000 })]);
  return {
    users,
    reach,
    async stop() {
      isStopped = true;
      await clients;
    },
  };
}

async function read(url: string, id: string): Promise<User | undefined> {
  const response = await fetch(`${url}/api/v2/users/${id}`);
  return ((await response.json()) as { data?: User }).data;
}

test.each(['PostgreSQL', 'SQLite'] as const)(
  'a backup of %s under load restores every user acknowledged before it began',
  async (store) => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-backup-'));
    onTestFinished(() => fs.rmSync(folder, { recursive: true }));
    const run = async (command: string, variables: Variables) => {
      const env = { ...process.env, ...variables };
      const child = spawn('bash', ['-euc', command], { cwd: folder, env, stdio: 'inherit' });
      const [code] = await once(child, 'exit');
      return code === 0;
    };
    const start = async (variables: Variables) => {
      expect(await runToEnd(USERS, variables, ['migrate'])).toMatchObject({ code: 0 });
      const service = await startService(USERS, variables);
      const kill = async () => {
        service.signal('SIGKILL');
        await service.ended;
      };
      onTestFinished(kill);
      return { ...service, kill };
    };
    const create = async () => {
      const database = await createDatabase[store](folder);
      onTestFinished(database.lose);
      return database;
    };
    const [backup, restore] = commandsOf(store);
    const lost = await create();
    const first = await start(lost.variables);
    const clients = startClients(first.url);
    await clients.reach(COUNT);
    const acknowledged = [...clients.users];
    const isBackedUp = await run(backup, lost.variables);
    await clients.reach(clients.users.length + CLIENTS);
    await clients.stop();
    await first.kill();
    await lost.lose();

    const { variables } = await create();
    const second = await start(variables);
    const isRestored = await run(restore, variables);
    const file = path.join(folder, 'users.backup');
    fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2));
    const isDamagedRestored = await run(restore, variables);
    await second.kill();

    const { url } = await start(variables);
    const found: (User | undefined)[] = [];
    for (const { id } of acknowledged) found.push(await read(url, id));
    expect({ isBackedUp, isRestored, isDamagedRestored }).toEqual({
      isBackedUp: true,
      isRestored: true,
      isDamagedRestored: false,
    });
    expect(found).toEqual(acknowledged);
    expect(await read(url, clients.users.at(-1)!.id)).toBeUndefined();
  },
);

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import path from 'node:path';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { newFolder } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

import { createUsers } from './create-users.ts';
import { FULL } from './results.ts';

const USERS = new URL('../../services/users/src/main.ts', import.meta.url);
const PAGE = path.resolve(import.meta.dirname, '../../docs/operations/backup.md');
const count = FULL ? 20_000 : 1_000;

type Variables = Readonly<Record<string, string>>;

/** The first two blocks of a section of the page: they write and read `users.backup`. */
function commandsOf(section: string): string[] {
  const [, text = ''] = fs.readFileSync(PAGE, 'utf8').split(`\n## ${section}\n`);
  return [...text.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block = '']) => block);
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

async function start(variables: Variables) {
  expect(await runToEnd(USERS, variables, ['migrate'])).toMatchObject({ code: 0 });
  const service = await startService(USERS, variables);
  const kill = async () => {
    service.signal('SIGKILL');
    await service.ended;
  };
  onTestFinished(kill);
  return { url: service.url, kill };
}

async function read(url: string, ids: readonly string[]): Promise<unknown[]> {
  const users: unknown[] = [];
  for (const id of ids) users.push(await (await fetch(`${url}/api/v1/users/${id}`)).json());
  return users;
}

test.each(['PostgreSQL', 'SQLite'] as const)(
  'a backup of %s under load restores every user acknowledged before it began',
  async (store) => {
    const folder = newFolder('fw-backup-');
    const create = async () => {
      const database = await createDatabase[store](folder);
      onTestFinished(database.lose);
      return database;
    };
    /** Runs a command of the page; returns its exit code. */
    const run = async (command = '', variables: Variables = {}): Promise<number> => {
      const env = { ...process.env, ...variables };
      const child = spawn('bash', ['-euc', command], { cwd: folder, env, stdio: 'inherit' });
      return (await once(child, 'exit'))[0];
    };
    const [backup, restore] = commandsOf(store);

    const lost = await create();
    const first = await start(lost.variables);
    const ids = await createUsers(first.url, { count });
    const acknowledged = await read(first.url, ids);
    const load = createUsers(first.url, { count });
    expect(await run(backup, lost.variables)).toBe(0);
    await load;
    const later = await createUsers(first.url, { count: 1 });
    await first.kill();
    await lost.lose();

    const { variables } = await create();
    const second = await start(variables);
    expect(await run(restore, variables)).toBe(0);
    const file = path.join(folder, 'users.backup');
    fs.truncateSync(file, Math.floor(fs.statSync(file).size / 2));
    expect(await run(restore, variables), 'the exit code for a damaged backup').toBe(1);
    await second.kill();

    const { url } = await start(variables);
    expect(await read(url, ids)).toEqual(acknowledged);
    expect(await read(url, later)).toMatchObject([{ status: 404 }]);
  },
);

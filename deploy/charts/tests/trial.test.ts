import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { newFolder } from '@fw/service/testing/vitest';
import pg from 'pg';
import { beforeAll, expect, onTestFinished, test } from 'vitest';

import { ensureTool } from '../../../tools/programs.ts';
import { freePort } from '../../local/testing/ports.ts';
import { charts, namesOf, only, podOf, type Rendered } from './render.ts';

let objects: Rendered[];
beforeAll(() => {
  objects = charts.render('platform');
});
const secretOf = (name: string, from = objects): Record<string, string> =>
  only(from, 'Secret', name).stringData;

test('the passwords are random, and no other object and no argument contains one', () => {
  const again = charts.render('platform');
  const others = JSON.stringify(objects.filter(({ kind }) => kind !== 'Secret'));

  for (const [name, key] of [
    ['fw-postgres', 'password'],
    ['fw-postgres', 'users-password'],
    ['fw-postgres', 'catalog-password'],
    ['fw-valkey', 'password'],
    ['fw-tokens', 'secret'],
  ] as const) {
    const password = secretOf(name)[key] ?? '';
    expect(password).toMatch(/^[A-Za-z0-9]{40}$/);
    expect(secretOf(name, again)[key]).not.toBe(password);
    expect(others).not.toContain(password);
  }
  const command: string[] = podOf(objects, 'fw-valkey').containers[0].command;
  expect(command.filter((one) => one.includes('PASSWORD'))).toHaveLength(1);
  expect(command[2]).toContain('requirepass');
});

test('each service reads the address of its server with its own password', () => {
  for (const [service, name, key] of [
    ['users', 'fw-postgres', 'users-url'],
    ['catalog', 'fw-postgres', 'catalog-url'],
    ['reports', 'fw-valkey', 'url'],
  ] as const) {
    const { hostname, password } = new URL(secretOf(name)[key] ?? '');
    const [{ projected }] = podOf(objects, `fw-${service}`).volumes;
    expect(namesOf(objects, 'Service')).toContain(hostname);
    expect(secretOf(name)[key.replace(/url$/, 'password')]).toBe(password);
    expect(JSON.stringify(projected)).toContain(`"name":"${name}","items":[{"key":"${key}"`);
  }
});

test('each service has a role of its own, which is no superuser and cannot connect to other databases', async () => {
  const folder = newFolder('fw-trial-');
  const [{ command, env }] = podOf(objects, 'fw-postgres').initContainers;
  const port = await freePort();
  const secrets = path.join(folder, 'secrets');
  const data = path.join(folder, 'data');
  const programs = path.dirname(fs.realpathSync(ensureTool('postgres')));
  fs.mkdirSync(secrets);
  fs.chmodSync(folder, 0o777);
  /** Runs a program as a user that may own a server. */
  const run = ([file = '', ...args]: readonly string[]) => {
    const owner = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
    const PATH = `${programs}:${process.env.PATH}`;
    const { status, stderr } = spawnSync(file, args, {
      ...{ ...owner, cwd: folder, encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'] },
      env: { PATH, PGDATA: data, PGUSER: env[1].value },
    });
    expect(status, String(stderr)).toBe(0);
  };
  /** Runs the init container with passwords that begin with `prefix`. */
  const prepare = (prefix: string) => {
    for (const name of ['password', 'users-password', 'catalog-password']) {
      fs.writeFileSync(path.join(secrets, name), `${prefix}-${name}`);
    }
    run(
      command.map((one: string) =>
        one.replaceAll('/tmp', folder).replaceAll('/run/secrets/postgres', secrets),
      ),
    );
  };

  prepare('first');
  // A restart with the Secret of another release: the volume remains.
  prepare('second');
  const options = `-c listen_addresses=127.0.0.1 -c port=${port} -c unix_socket_directories=''`;
  const log = path.join(folder, 'log');
  run(['pg_ctl', '--wait', '--silent', `--log=${log}`, `--options=${options}`, 'start']);
  onTestFinished(() => run(['pg_ctl', '--wait', '--silent', '--mode=immediate', 'stop']));
  const query = async (user: string, database: string, password = `second-${user}-password`) => {
    const client = new pg.Client({ host: '127.0.0.1', port, user, database, password });
    await client.connect();
    const { rows } = await client.query(
      'SELECT rolname, rolsuper, rolcreaterole FROM pg_roles WHERE rolname = current_user',
    );
    await client.query('CREATE TABLE works (id int)');
    await client.end();
    return rows[0];
  };

  for (const rolname of ['users', 'catalog']) {
    expect(await query(rolname, rolname)).toEqual({
      rolname,
      rolsuper: false,
      rolcreaterole: false,
    });
  }
  await expect(query('users', 'catalog')).rejects.toThrow('permission denied for database');
  await expect(query('users', 'users', 'first-users-password')).rejects.toThrow('authentication');
});

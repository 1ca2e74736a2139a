import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { parse } from 'yaml';

import { CHARTS } from '../folder.ts';
import { forDatabases } from './platform.ts';
import { charts, only, type Rendered } from './render.ts';

const MAIN = new URL('../../../services/users/src/main.ts', import.meta.url);
const CA = '/run/secrets/fw/postgres-ca.crt';

test('the certificate authority of the database is mounted read-only next to the address that refers to it', () => {
  const objects = charts.render('users', {
    store: {
      type: 'postgres',
      postgres: {
        existingSecret: { name: 'database', key: 'address' },
        caSecret: { name: '{{ .Release.Name }}-database-ca', key: 'root.pem' },
      },
    },
  });
  const { containers, initContainers, volumes } = only(objects, 'Deployment').spec.template.spec;

  expect(volumes).toContainEqual({
    name: 'secrets',
    projected: {
      sources: [
        { secret: { name: 'database', items: [{ key: 'address', path: 'DATABASE_URL' }] } },
        {
          secret: {
            name: 'fw-database-ca',
            items: [{ key: 'root.pem', path: path.basename(CA) }],
          },
        },
      ],
    },
  });
  for (const { volumeMounts, env } of [...initContainers, ...containers]) {
    expect(volumeMounts).toEqual([
      { name: 'secrets', mountPath: path.dirname(CA), readOnly: true },
    ]);
    expect(env).toEqual([{ name: 'DATABASE_URL_FILE', value: '/run/secrets/fw/DATABASE_URL' }]);
  }
});

/** The Secrets that the pods of the service mount. */
function secretsOf(objects: readonly Rendered[], name: string) {
  const [volume] = only(objects, 'Deployment', name).spec.template.spec.volumes;
  return volume.projected.sources.map(({ secret }: Rendered) => secret);
}

const URL_SECRET = { name: 'database', items: [{ key: 'url', path: 'DATABASE_URL' }] };

test('users without a caSecret mounts only the Secret with the address', () => {
  const postgres = { existingSecret: { name: 'database' }, caSecret: null };
  const store = { type: 'postgres', postgres };

  expect(secretsOf(charts.render('users', { store }), 'fw-users')).toEqual([URL_SECRET]);
  const platform = charts.render('platform', {
    users: { store, networkPolicy: { databaseTo: [] } },
  });
  expect(secretsOf(platform, 'fw-users')).toEqual([URL_SECRET]);
});

test('the values of the README give users and catalog a database with TLS', () => {
  const readme = fs.readFileSync(path.join(CHARTS, 'README.md'), 'utf8');
  const [, section = ''] = readme.split('## PostgreSQL with TLS\n');
  const [, block = ''] = /```yaml\n(.*?)```/s.exec(section) ?? [];

  const values = parse(block);
  const objects = charts.render('platform', { ...forDatabases(values.users), ...values });

  for (const name of ['fw-users', 'fw-catalog']) {
    expect(secretsOf(objects, name)).toEqual([
      URL_SECRET,
      { name: 'database-ca', items: [{ key: 'ca.crt', path: path.basename(CA) }] },
    ]);
    expect(only(objects, 'NetworkPolicy', name).spec.egress).toContainEqual({
      ports: [{ port: 5432 }],
      to: [{ ipBlock: { cidr: '10.1.2.3/32' } }],
    });
  }
});

test('values of a release from before caSecret still render', () => {
  const previous = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-previous-'));
  onTestFinished(() => fs.rmSync(previous, { recursive: true }));
  fs.cpSync(path.join(CHARTS, 'users'), previous, { recursive: true });
  const file = path.join(previous, 'values.yaml');
  const values = fs.readFileSync(file, 'utf8').replace(/^ {4}caSecret:\n( {6}.*\n)+/m, '');
  fs.writeFileSync(file, values);
  const existingSecret = { name: 'database' };
  const render = (postgres: object) =>
    secretsOf(charts.render(previous, { store: { type: 'postgres', postgres } }), 'fw-users');

  expect(values).not.toContain('caSecret');
  expect(render({ existingSecret })).toEqual([URL_SECRET]);
  expect(render({ existingSecret, caSecret: { name: 'ca' } })).toContainEqual({
    name: 'ca',
    items: [{ key: 'ca.crt', path: path.basename(CA) }],
  });
});

/** Creates a certificate authority in `folder`, and a certificate for 127.0.0.1. */
function issueCertificates(folder: string) {
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  for (const name of ['ca', 'other']) {
    openssl(
      ...['req', '-x509', ...key, '-keyout', `${name}.key`, '-out', `${name}.crt`],
      ...['-subj', `/CN=${name}`],
    );
  }
  openssl('req', ...key, '-keyout', 'server.key', '-out', 'server.csr', '-subj', '/CN=database');
  fs.writeFileSync(path.join(folder, 'names'), 'subjectAltName=IP:127.0.0.1\n');
  openssl(
    ...['x509', '-req', '-in', 'server.csr', '-CA', 'ca.crt', '-CAkey', 'ca.key'],
    ...['-CAcreateserial', '-extfile', 'names', '-out', 'server.crt'],
  );
}

test('a service verifies the certificate of PostgreSQL', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'fw-tls-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  issueCertificates(folder);
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const client = new pg.Client(server.url);
  await client.connect();
  onTestFinished(() => client.end());
  await serveTls(client, folder);
  /** The address in the chart's Secret, with another path of the certificate. */
  const addressWith = (authority: string) => {
    const url = `${server.url}?sslmode=verify-full&sslrootcert=${CA}`;
    const store = { type: 'postgres', postgres: { url, caSecret: { name: 'database-ca' } } };
    const { stringData } = only(charts.render('users', { store }), 'Secret');
    return stringData.DATABASE_URL.replace(CA, path.join(folder, authority));
  };

  const refused = await runToEnd(MAIN, { DATABASE_URL: addressWith('other.crt') }, ['migrate']);
  const migrated = await runToEnd(MAIN, { DATABASE_URL: addressWith('ca.crt') }, ['migrate']);
  const service = await startService(MAIN, {
    DATABASE_URL: addressWith('ca.crt'),
    DRAIN_DELAY_MS: '0',
  });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  const response = await fetch(`${service.url}/api/v1/users`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'Ada', email: 'ada@example.org' }),
  });
  const { rows } = await client.query(
    "SELECT DISTINCT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'users'",
  );

  expect(refused.code).toBe(1);
  expect(refused.stdout + refused.stderr).toMatch(/certificate|self.signed/i);
  expect(migrated).toMatchObject({ code: 0 });
  expect(response.status).toBe(201);
  expect(rows).toEqual([{ ssl: true }]);
});

/** Enables TLS in a running server, with the certificate in `folder`. */
async function serveTls(client: pg.Client, folder: string): Promise<void> {
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  const directory = rows[0]?.data_directory ?? '';
  const { uid, gid } = fs.statSync(directory);
  for (const name of ['server.crt', 'server.key']) {
    const copy = path.join(directory, name);
    fs.copyFileSync(path.join(folder, name), copy);
    fs.chmodSync(copy, 0o600);
    fs.chownSync(copy, uid, gid);
  }
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await expect
    .poll(async () => (await client.query('SHOW ssl')).rows, { timeout: 10_000 })
    .toEqual([{ ssl: 'on' }]);
}

import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';

import { charts, only } from './render.ts';

const MAIN = new URL('../../../services/users/src/main.ts', import.meta.url);
const CA = '/run/secrets/fw/postgres-ca.crt';

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

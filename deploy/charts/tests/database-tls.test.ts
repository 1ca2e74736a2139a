import fs from 'node:fs';
import path from 'node:path';

import { runToEnd, startService } from '@fw/service/testing';
import { startPostgres } from '@fw/service/testing/postgres';
import { newFolder } from '@fw/service/testing/vitest';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { type Certificate, issueCertificate } from '../../local/testing/certificate.ts';
import { charts, only } from './render.ts';
import { merge, SHARED } from './values.ts';

const MAIN = new URL('../../../services/users/src/main.ts', import.meta.url);
const CA = '/run/secrets/app/postgres-ca.crt';

test('a service verifies the certificate of PostgreSQL', async () => {
  const folder = newFolder('fw-tls-');
  const certificate = issueCertificate(['127.0.0.1']);
  fs.writeFileSync(path.join(folder, 'ca.crt'), certificate['tls.crt']);
  fs.writeFileSync(path.join(folder, 'other.crt'), issueCertificate(['127.0.0.1'])['tls.crt']);
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const client = new pg.Client(server.url);
  await client.connect();
  onTestFinished(() => client.end());
  await serveTls(client, certificate);
  /** The address in the chart's Secret, with another path of the certificate. */
  const addressWith = (authority: string) => {
    const url = `${server.url}?sslmode=verify-full&sslrootcert=${CA}`;
    const secrets = { DATABASE_URL: { value: url }, 'postgres-ca.crt': { existingSecret: 'ca' } };
    const values = merge(SHARED.users, { secrets });
    const { stringData } = only(charts.render('users', values), 'Secret');
    return stringData.DATABASE_URL.replace(CA, path.join(folder, authority));
  };

  const refused = await runToEnd(MAIN, { DATABASE_URL: addressWith('other.crt') }, ['migrate']);
  const migrated = await runToEnd(MAIN, { DATABASE_URL: addressWith('ca.crt') }, ['migrate']);
  const service = await startService(MAIN, {
    DATABASE_URL: addressWith('ca.crt'),
    DRAIN_DELAY_MS: '0',
    DRAIN_IDLE_MS: '0',
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

/** Enables TLS in a running server. */
async function serveTls(client: pg.Client, certificate: Certificate): Promise<void> {
  const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
  const directory = rows[0]?.data_directory ?? '';
  const { uid, gid } = fs.statSync(directory);
  for (const [name, text] of Object.entries(certificate)) {
    const file = path.join(directory, name.replace('tls', 'server'));
    fs.writeFileSync(file, text, { mode: 0o600 });
    fs.chownSync(file, uid, gid);
  }
  await client.query('ALTER SYSTEM SET ssl = on');
  await client.query('SELECT pg_reload_conf()');
  await expect.poll(async () => (await client.query('SHOW ssl')).rows).toEqual([{ ssl: 'on' }]);
}

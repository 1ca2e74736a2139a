import pg from 'pg';

/** Lets every role except `postgres` connect to the server of `url` only with its password. */
export async function requirePasswords(url: string): Promise<void> {
  const rules = [
    'host all postgres 127.0.0.1/32 trust',
    'host all all 127.0.0.1/32 scram-sha-256',
  ].join('\\n');
  const client = new pg.Client(url);
  await client.connect();
  await client.query(
    `DO $$ BEGIN EXECUTE format('COPY (SELECT unnest(string_to_array(%L, E''\\n''))) TO %L',
      E'${rules}', current_setting('hba_file')); END $$`,
  );
  await client.query('SELECT pg_reload_conf()');
  await client.end();
}

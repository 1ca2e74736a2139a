import type { World } from './scenario.ts';

/** Runs SQL in the bundled PostgreSQL, and returns its rows; `|` separates their columns. */
export async function sql({ cluster, namespace }: World, text: string): Promise<string[]> {
  const options = '--no-align --tuples-only --quiet --set=ON_ERROR_STOP=1';
  const psql = `psql --host=127.0.0.1 --username=fw --dbname=fw ${options} --command "$1"`;
  const withPassword = `PGPASSWORD=$(cat "$POSTGRES_PASSWORD_FILE") ${psql}`;
  const rows = await cluster.kubectl([
    ...['exec', 'fw-postgres-0', '--container=postgres', '--namespace', namespace],
    ...['--request-timeout=0', '--', 'sh', '-c', withPassword, 'sh', text],
  ]);
  return rows.trim().split('\n').filter(Boolean);
}

import { expect, test } from 'vitest';

import { readStatementName } from './otlp.ts';

test.each([
  ['SELECT name FROM users WHERE id = ?', 'SELECT', 'users'],
  ['  select 1', 'SELECT', undefined],
  ['SELECT * FROM unnest($1::text[]) JOIN users USING (id)', 'SELECT', undefined],
  ['SELECT total FROM (SELECT count(*) AS total FROM users) AS counted', 'SELECT', 'users'],
  ['SELECT id FROM users FOR UPDATE SKIP LOCKED', 'SELECT', 'users'],
  ['WITH old AS (SELECT id FROM users) SELECT id FROM old', 'SELECT', 'users'],
  ['WITH new AS (SELECT 1) INSERT INTO users SELECT * FROM new', 'INSERT', 'users'],
  ['INSERT INTO users (id) VALUES (?) ON CONFLICT DO UPDATE SET id = 1', 'INSERT', 'users'],
  ['INSERT OR REPLACE INTO "idempotency" VALUES (?)', 'INSERT', '"idempotency"'],
  ['UPDATE users SET name = ? WHERE id = ?', 'UPDATE', 'users'],
  ['DELETE FROM public.users WHERE id = $1', 'DELETE', 'public.users'],
  ['BEGIN; SET LOCAL statement_timeout = 5000', 'BEGIN', undefined],
  ['BEGIN IMMEDIATE', 'BEGIN', undefined],
  ['COMMIT', 'COMMIT', undefined],
  ['', '', undefined],
])('%s is %s of %s', (text, operation, table) => {
  expect(readStatementName(text)).toEqual({ operation, table });
});

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { runToEnd, type Variables } from '@fw/service/testing';
import { startTestService } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

import { newDirectory } from './testing.ts';

const MAIN = new URL('./main.ts', import.meta.url);

function start(variables: Variables) {
  return startTestService(MAIN, { DRAIN_DELAY_MS: '0', ...variables });
}

test('two processes that start concurrently on a new file serve the complete catalog', async () => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');

  const services = await Promise.all([start({ DATABASE_FILE }), start({ DATABASE_FILE })]);

  for (const { url, healthUrl } of services) {
    const response = await fetch(`${url}/api/v1/catalog?page=60`);
    expect(await response.json()).toMatchObject({ total: 1200, totalPages: 60, page: 60 });
    expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
  }
});

test('SIGTERM ends the service with exit code 0; it can start again', async () => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');
  const first = await start({ DATABASE_FILE });

  first.signal('SIGTERM');

  expect(await first.ended).toMatchObject({ code: 0, stderr: '' });
  const { url } = await start({ DATABASE_FILE });
  expect((await fetch(`${url}/api/v1/catalog`)).status).toBe(200);
});

test.for([
  [{ DATA_FILE: '/nowhere' }, 'Cannot read items from "/nowhere": ENOENT: no such file'],
  [
    { DATA_FILE: fileURLToPath(MAIN) },
    `from "${fileURLToPath(MAIN)}": expected NDJSON (one JSON object per line), plain or gzip`,
  ],
  [{ HEALTH_PORT: '-1' }, 'HEALTH_PORT must be an integer from 0 to 65535, got "-1"'],
] as const)('with %j the service reports the error in one line', async ([variables, reason]) => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');

  const ending = await runToEnd(MAIN, {
    DATABASE_FILE,
    PORT: '0',
    HEALTH_PORT: '0',
    ...variables,
  });

  expect(ending.code).toBe(1);
  expect(ending.stderr).toMatch(/^Cannot run catalog: [^\n]+\n$/);
  expect(ending.stderr).toContain(reason);
});

test('a broken database file is not changed', async () => {
  const DATABASE_FILE = join(newDirectory(), 'catalog.db');
  const content = 'not a database any more'.repeat(1_000);
  writeFileSync(DATABASE_FILE, content);

  const ending = await runToEnd(MAIN, { DATABASE_FILE, PORT: '0', HEALTH_PORT: '0' });

  expect(ending.stderr).toContain(
    `Cannot run catalog: Cannot open database "${DATABASE_FILE}": file is not a database`,
  );
  expect(readFileSync(DATABASE_FILE, 'utf8')).toBe(content);
});

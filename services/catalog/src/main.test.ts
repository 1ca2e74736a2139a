import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { runToEnd, type Variables } from '@fw/service/testing';
import { newFolder, startTestService } from '@fw/service/testing/vitest';
import { expect, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);

function start(variables: Variables) {
  return startTestService(MAIN, { DRAIN_DELAY_MS: '0', DRAIN_IDLE_MS: '0', ...variables });
}

test('two processes that start concurrently on a new file serve the complete catalog', async () => {
  const DATABASE_FILE = join(newFolder(), 'catalog.db');

  const services = await Promise.all([start({ DATABASE_FILE }), start({ DATABASE_FILE })]);

  for (const { url, healthUrl } of services) {
    const response = await fetch(`${url}/api/v1/catalog?page=60`);
    expect(await response.json()).toMatchObject({ total: 1200, totalPages: 60, page: 60 });
    expect((await fetch(`${healthUrl}/readyz`)).status).toBe(200);
  }
});

test.for([
  [{ DATA_FILE: '/nowhere' }, 'Cannot read items from "/nowhere": ENOENT: no such file'],
  [
    { DATA_FILE: fileURLToPath(MAIN) },
    `from "${fileURLToPath(MAIN)}": expected NDJSON (one JSON object per line), plain or gzip`,
  ],
] as const)('with %j the service reports the error in one line', async ([variables, reason]) => {
  const DATABASE_FILE = join(newFolder(), 'catalog.db');

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

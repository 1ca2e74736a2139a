import { join } from 'node:path';

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

test('a service whose DATA_FILE cannot be read reports that in one line', async () => {
  const DATABASE_FILE = join(newFolder(), 'catalog.db');
  const variables = { DATABASE_FILE, DATA_FILE: '/nowhere', PORT: '0', HEALTH_PORT: '0' };

  const ending = await runToEnd(MAIN, variables);

  expect(ending.code).toBe(1);
  expect(ending.stderr).toMatch(
    /^Cannot run catalog: Cannot read items from "\/nowhere": ENOENT: no such file[^\n]*\n$/,
  );
});

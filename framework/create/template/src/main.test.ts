import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);

test('the service keeps its tasks when it restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tasks-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const drain = { DRAIN_DELAY_MS: '0', DRAIN_IDLE_MS: '0' };
  const variables = { DATABASE_FILE: join(folder, 'tasks.db'), ...drain };

  const first = await startTestService(MAIN, variables);
  await fetch(`${first.url}/api/v1/tasks`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ title: 'Write the report' }),
  });
  first.signal('SIGTERM');
  const { code } = await first.ended;
  const second = await startTestService(MAIN, variables);
  const response = await fetch(`${second.url}/api/v1/tasks`);

  expect(code).toBe(0);
  expect(await response.json()).toMatchObject({ data: [{ title: 'Write the report' }] });
});

test('the health server reports readiness and metrics', async () => {
  const { healthUrl } = await startTestService(MAIN, { DATABASE_FILE: ':memory:' });

  const ready = await fetch(`${healthUrl}/readyz`);
  const metrics = await fetch(`${healthUrl}/metrics`);

  expect(ready.status).toBe(200);
  expect(await metrics.text()).toContain('http_server_active_requests');
});

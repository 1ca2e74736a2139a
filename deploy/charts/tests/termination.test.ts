import { setTimeout as sleep } from 'node:timers/promises';

import { openConnection } from '@fw/core/testing';
import { startService } from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';

import { charts, only } from './render.ts';

/** A service whose `/wait` takes `REQUEST_TIMEOUT_MS` and responds with 503. */
const MAIN = new URL(
  '../../../framework/service/src/fixtures/service/src/main.ts',
  import.meta.url,
);

test('a terminating pod completes every request, even the last and longest', async () => {
  const config = { REQUEST_TIMEOUT_MS: 3_000, BODY_TIMEOUT_MS: 3_000, DRAIN_DELAY_MS: 200 };
  const { data } = only(charts.render('users', { config }), 'ConfigMap');
  const { REQUEST_TIMEOUT_MS, BODY_TIMEOUT_MS, DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS } = data;
  const service = await startService(MAIN, {
    ...{ REQUEST_TIMEOUT_MS, BODY_TIMEOUT_MS, DRAIN_DELAY_MS, DRAIN_TIMEOUT_MS },
  });
  onTestFinished(async () => {
    service.signal('SIGKILL');
    await service.ended;
  });
  // Enough connections for one request every 200 ms until the service closes idle ones.
  const connections = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const connection = openConnection(Number(new URL(service.url).port));
      await connection.send('GET / HTTP/1.1\r\nHost: a\r\n\r\n').read(/\r\n\r\n\{.*\}/);
      return connection;
    }),
  );
  service.signal('SIGTERM');
  const idle = connections.pop();
  const isClosed = idle?.readAll();
  const sent = [];
  for (const connection of connections) {
    const next = await Promise.race([isClosed, sleep(200)]);
    if (next !== undefined) break;
    sent.push(connection.send('GET /wait HTTP/1.1\r\nHost: a\r\n\r\n').readAll());
  }
  const responses = await Promise.all(sent);
  const { code, stdout } = await service.ended;

  expect(stdout.match(/incomplete responses: \d+/)).toBeNull();
  expect(code).toBe(0);
  const complete = responses.filter((text) => /HTTP\/1\.1 503 .*\}$/s.test(text));
  expect(complete.length).toBeGreaterThan(1);
});

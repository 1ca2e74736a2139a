import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { startCollector } from '@fw/service/testing';
import { startTestPostgres, startTestService } from '@fw/service/testing/vitest';
import { expect, onTestFinished, test } from 'vitest';

const MAIN = new URL('./main.ts', import.meta.url);
const TRACE = '0af7651916cd43dd8448eb211c80319c';

const server = startTestPostgres();

function newFile(): string {
  const directory = mkdtempSync(join(tmpdir(), 'users-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return join(directory, 'users.db');
}

test.each([
  ['sqlite', async () => ({ DATABASE_FILE: newFile() })],
  ['postgresql', async () => ({ DATABASE_URL: await server().createDatabase() })],
] as const)(
  'the bundled service sends its statements on %s as spans of the request',
  async (system, openStore) => {
    const collector = await startCollector();
    onTestFinished(collector.stop);
    const variables = { ...(await openStore()), OTEL_EXPORTER_OTLP_ENDPOINT: collector.url };
    const service = await startTestService(MAIN, variables);

    const response = await fetch(`${service.url}/api/v2/users`, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'Idempotency-Key': 'key-1',
        traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
      },
      body: JSON.stringify({ name: 'Ada', email: 'ada@example.com' }),
    });
    const readSpans = () => collector.spans().filter(({ traceId }) => traceId === TRACE);
    const findRequest = () => readSpans().find(({ kind }) => kind === 2);
    await expect.poll(findRequest, { timeout: 10_000 }).toBeDefined();

    expect(response.status).toBe(201);
    const [spans, request] = [readSpans(), findRequest()];
    const statements = spans.filter((span) => span.attributes['db.system.name'] === system);
    expect(request).toMatchObject({ service: 'users', name: 'POST /api/v2/users' });
    expect(statements.map(({ name }) => name)).toContain('INSERT users');
    expect(new Set(statements.map(({ parentSpanId }) => parentSpanId))).toEqual(
      new Set([request?.spanId]),
    );
    expect(JSON.stringify(statements)).not.toMatch(/Ada|example|key-1/);
  },
);

import { createServer } from 'node:http';

import { openapi } from '@fw/openapi';
import { createApp, createRouter, endpoint, listen } from 'fw';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';

import { checkConformance } from './conformance.ts';
import { ensureEnvironment } from './environment.ts';
import { runSchemathesis } from './schemathesis.ts';

test('every service conforms to its document in both versions, directly and through the edge', {
  timeout: 900_000,
}, async () => {
  const { problems, rows, cases } = await checkConformance({ maxExamples: 3 });

  expect(problems).toEqual([]);
  expect(rows.map(({ service, version, way }) => `${service} ${version} ${way}`).sort()).toEqual(
    ['catalog', 'reports', 'users'].flatMap((service) =>
      ['v1', 'v2'].flatMap((version) =>
        ['direct', 'edge'].map((way) => `${service} ${version} ${way}`),
      ),
    ),
  );
  expect(cases).toBeGreaterThan(1_000);
});

test('a response that contradicts the document is a failure, with a command to repeat it', {
  timeout: 300_000,
}, async () => {
  const router = createRouter().get(
    '/api/v1/names',
    endpoint({ responses: { 200: z.object({ name: z.string() }) } }),
    (ctx) => ctx.json({ name: 7 }),
  );
  const app = createApp({ logger: { info() {}, warn() {}, error() {} } });
  app.use(openapi({ router })).route('/', router);
  const { port, close } = await listen(app, { port: 0, host: '127.0.0.1' });
  onTestFinished(() => close());

  const { failures, errors } = await runSchemathesis({
    python: await ensureEnvironment(),
    origin: `http://127.0.0.1:${port}`,
    document: '/openapi.json',
    maxExamples: 1,
  });

  expect(errors).toEqual([]);
  expect(failures).toContainEqual({
    operation: 'GET /api/v1/names',
    check: 'response_schema_conformance',
    message: expect.stringContaining('7 is not of type "string"'),
    status: 200,
    detail: undefined,
    curl: `curl -i -X GET 'http://127.0.0.1:${port}/api/v1/names'`,
  });
});

test('a service that cannot be reached is an error, not a run without failures', {
  timeout: 300_000,
}, async () => {
  const server = createServer((_, res) => res.writeHead(500).end());
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;

  const run = runSchemathesis({
    python: await ensureEnvironment(),
    origin: `http://127.0.0.1:${port}`,
    document: '/openapi.json',
    maxExamples: 1,
  });

  await expect(run).rejects.toThrow('schemathesis');
});

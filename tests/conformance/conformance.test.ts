import { createServer } from 'node:http';

import { openapi } from '@fw/openapi';
import { createApp, createRouter, endpoint, listen } from 'fw';
import { describe, expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';

import { SERVICES } from '../../services/services.ts';
import { checkConformance, judge, readExceptions, tableOf } from './conformance.ts';
import { ensureEnvironment } from './environment.ts';
import { runSchemathesis } from './schemathesis.ts';

/** `make conformance` runs the long version (about 29,000 cases); its project sets FULL. */
const { maxExamples, leastCases } = process.env.FULL
  ? { maxExamples: 450, leastCases: 20_000 }
  : { maxExamples: 3, leastCases: 1_000 };

describe('schemathesis', { timeout: process.env.FULL ? 0 : 900_000 }, () => {
  test('every service conforms to its document in all versions, directly and through the edge', async () => {
    const outcome = await checkConformance({ maxExamples });

    const { problems, rows, cases, unused } = outcome;
    if (process.env.FULL) console.log(tableOf(outcome));
    expect(problems.slice(0, 100)).toEqual([]);
    expect(rows.map(({ service, version, way }) => `${service} ${version} ${way}`).sort()).toEqual(
      SERVICES.flatMap(({ name, versions }) =>
        versions.flatMap((version) => ['direct', 'edge'].map((way) => `${name} ${version} ${way}`)),
      ).sort(),
    );
    expect(cases).toBeGreaterThan(leastCases);
    // The short run does not reach every exception.
    if (process.env.FULL) expect(unused).toEqual([]);
  });

  test('a response that contradicts the document is a failure, with a command to repeat it', async () => {
    const router = createRouter().get(
      '/api/v1/names',
      endpoint({ responses: { 200: z.object({ name: z.string() }) } }),
      (ctx) => ctx.set('Content-Type', 'application/json').send('{"name":7}'),
    );
    const app = createApp({ logger: { info() {}, warn() {}, error() {} } });
    app.use(openapi({ router })).route('/', router);
    const { port, close } = await listen(app, { port: 0, host: '127.0.0.1' });
    onTestFinished(() => close());

    const findings = await runSchemathesis({
      python: ensureEnvironment(),
      origin: `http://127.0.0.1:${port}`,
      document: '/openapi.json',
      maxExamples: 1,
    });

    const { failures, errors } = findings;
    expect(errors).toEqual([]);
    expect(failures).toContainEqual({
      operation: 'GET /api/v1/names',
      check: 'response_schema_conformance',
      message: expect.stringContaining('7 is not of type "string"'),
      status: 200,
      detail: undefined,
      curl: `curl -i -X GET 'http://127.0.0.1:${port}/api/v1/names'`,
    });
    const { problems } = judge(
      [{ service: 'users', way: 'direct', ...findings }],
      readExceptions(),
    );
    expect(problems.join('\n')).toContain('GET /api/v1/names fails response_schema_conformance');
  });

  test('a service that does not respond is an error, not a run without failures', async () => {
    const server = createServer((_, res) => res.writeHead(500).end());
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : undefined;

    const run = runSchemathesis({
      python: ensureEnvironment(),
      origin: `http://127.0.0.1:${port}`,
      document: '/openapi.json',
      maxExamples: 1,
    });

    await expect(run).rejects.toThrow('schemathesis');
  });
});

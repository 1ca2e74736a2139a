import { quiet } from '@fw/core/testing';
import { openapi } from '@fw/openapi';
import { serve } from '@fw/service/testing/vitest';
import {
  ConflictError,
  type Context,
  createApp,
  createRouter,
  endpoint,
  type Middleware,
} from 'fw';
import { expect, onTestFinished, test } from 'vitest';
import * as z from 'zod';

import { replicasOf } from '../../deploy/local/processes/system.ts';
import { startTrialSystem } from '../../deploy/local/testing/trial-system.ts';
import { issueToken, readOrCreateSecret } from '../../deploy/local/token.ts';
import { SERVICE_NAMES } from '../../services/services.ts';
import { runSchemathesis } from './schemathesis.ts';

/** `make conformance` runs the long version (about 29,000 cases); its project sets FULL. */
const { maxExamples, leastCases } = process.env.FULL
  ? { maxExamples: 450, leastCases: 20_000 }
  : { maxExamples: 3, leastCases: 1_000 };
const ARGS = ['--checks', 'all', '--max-examples', String(maxExamples)];

/** Limits that no run reaches. */
const UNLIMITED = {
  RATE_LIMIT_FREE: '1000000',
  RATE_LIMIT_PRO: '1000000',
  RATE_LIMIT_INVALID_TOKENS: '1000000',
};
const timeout = process.env.FULL ? 0 : 900_000;

test('every service conforms to its document in all versions, directly and through the edge', {
  timeout,
}, async () => {
  const { origin: edge, port, folders, stop } = await startTrialSystem(UNLIMITED);
  onTestFinished(stop);
  const secret = readOrCreateSecret(folders.run);
  const token = issueToken({ secret, user: 'ada', tier: 'pro' });
  let total = 0;

  for (const way of ['direct', 'edge'] as const) {
    const runs = SERVICE_NAMES.map(async (service) => {
      const replica = replicasOf(port).find((one) => one.service === service);
      const origin = way === 'edge' ? edge : `http://127.0.0.1:${replica?.port}`;
      const document = `${origin}/docs/${service}/openapi.json`;
      const { passed, output, cases } = await runSchemathesis(origin, document, {
        token,
        args: ARGS,
      });
      expect(passed, output).toBe(true);
      if (process.env.FULL) console.log(`${service} (${way}): ${cases} cases`);
      total += cases;
    });
    await Promise.all(runs);
  }

  expect(total).toBeGreaterThan(leastCases);
});

const NAME = endpoint({ responses: { 200: z.object({ name: z.string() }), 409: {} } });

test.each<[string, (ctx: Context) => unknown, string]>([
  [
    'a response that contradicts the document',
    (ctx) => ctx.set('Content-Type', 'application/json').send('{"name":7}'),
    '7 is not of type "string"',
  ],
  [
    'a code that the document does not have',
    () => {
      throw new ConflictError('Taken', { code: 'NAME_TAKEN' });
    },
    '"NAME_TAKEN" is not one of',
  ],
])('%s is a failure, with a command to repeat it', { timeout }, async (_, handler, failure) => {
  const router = createRouter().route('GET', '/api/v1/names', NAME as Middleware, handler);
  const app = createApp({ logger: quiet });
  app.use(openapi({ router }), router.routes(), router.allowedMethods());
  const { port } = await serve(app);

  const origin = `http://127.0.0.1:${port}`;
  const { passed, output } = await runSchemathesis(origin, `${origin}/openapi.json`, {
    args: ARGS,
  });

  expect(passed).toBe(false);
  expect(output).toContain(failure);
  expect(output).toContain('1 unique failure');
  expect(output).toContain(`curl -X GET http://127.0.0.1:${port}/api/v1/names`);
});

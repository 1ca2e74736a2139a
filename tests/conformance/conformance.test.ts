import { expect, onTestFinished, test } from 'vitest';

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

test('every service conforms to its document in all versions, directly and through the edge', {
  timeout: process.env.FULL ? 0 : 900_000,
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

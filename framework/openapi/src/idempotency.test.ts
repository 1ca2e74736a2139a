import { endpoint } from '@fw/core';
import { idempotency, memoryStore } from '@fw/middleware/idempotency';
import { validate } from '@fw/validation';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { describeRoute } from './testing/describe-route.ts';

test('idempotency() documents its header next to those of the route, and its errors', async () => {
  const store = memoryStore();

  const { operation, components } = await describeRoute(
    'POST /payments',
    endpoint({ responses: { 201: {} } }),
    validate({ headers: z.object({ 'x-shop': z.string() }) }),
    idempotency({ store, required: true, retentionMs: 90 * 60_000 }),
  );

  expect(operation).toMatchObject({
    parameters: [
      { name: 'x-shop', in: 'header' },
      {
        name: 'idempotency-key',
        in: 'header',
        required: true,
        description: expect.stringContaining('within 90 minutes'),
        schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
      },
    ],
    responses: {
      400: {},
      409: { $ref: '#/components/responses/Conflict' },
      422: { $ref: '#/components/responses/UnprocessableContent' },
    },
  });
  expect(components.responses?.Conflict).toMatchObject({
    description: 'The first request with this `Idempotency-Key` is in progress',
    headers: { 'Retry-After': {} },
  });
});

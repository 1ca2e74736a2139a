import { endpoint } from '@fw/core';
import { deprecation } from '@fw/middleware/deprecation';
import { idempotency, memoryStore } from '@fw/middleware/idempotency';
import { expect, test } from 'vitest';

import { describeRoute } from './testing/describe-route.ts';

test('deprecation() marks its operations and describes the headers of every response', async () => {
  const since = new Date('2026-12-01T00:00:00Z');
  const sunset = new Date('2027-12-31T00:00:00Z');

  const { operation, components } = await describeRoute(
    'GET /v1/:id',
    deprecation({ from: '/v1', to: '/v2', since, sunset }),
    endpoint({ responses: { 200: {} } }),
  );

  const names = ['Deprecation', 'Sunset', 'Link'];
  const headers = Object.fromEntries(
    names.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
  );
  expect(operation).toMatchObject({ deprecated: true, responses: { 200: { headers } } });
  expect(components.responses?.DeprecatedMethodNotAllowed).toMatchObject({ headers });
  expect(components.headers).toMatchObject({
    Deprecation: { description: expect.stringContaining('2026-12-01') },
    Sunset: { description: expect.stringContaining('2027-12-31') },
  });
});

test('idempotency() documents its header and its errors', async () => {
  const store = memoryStore();

  const { operation, components } = await describeRoute(
    'POST /payments',
    idempotency({ store, required: true, retentionMs: 90 * 60_000 }),
  );

  expect(operation.parameters).toMatchObject([
    {
      name: 'idempotency-key',
      in: 'header',
      required: true,
      description: expect.stringContaining('within 90 minutes'),
      schema: { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
    },
  ]);
  expect(operation.responses).toMatchObject({ 400: {}, 409: {}, 422: {} });
  expect(components.responses?.Conflict).toMatchObject({
    description: 'The first request with this `Idempotency-Key` is in progress',
    headers: { 'Retry-After': {} },
  });
});

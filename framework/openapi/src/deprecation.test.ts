import { endpoint } from '@fw/core';
import { deprecation } from '@fw/middleware/deprecation';
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

  const headers = {
    Deprecation: { $ref: '#/components/headers/Deprecation' },
    Sunset: { $ref: '#/components/headers/Sunset' },
    Link: { $ref: '#/components/headers/Link' },
  };
  expect(operation).toMatchObject({
    deprecated: true,
    responses: { 200: { headers } },
  });
  expect(components.responses?.DeprecatedNotFound).toMatchObject({ headers });
  expect(components.responses?.DeprecatedMethodNotAllowed).toMatchObject({ headers });
  expect(components.headers).toMatchObject({
    Deprecation: { description: expect.stringContaining('2026-12-01') },
    Sunset: { description: expect.stringContaining('2027-12-31') },
  });
});

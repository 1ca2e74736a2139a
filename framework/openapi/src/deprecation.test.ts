import { createRouter, endpoint } from '@fw/core';
import { deprecation } from '@fw/middleware/deprecation';
import { expect, test } from 'vitest';

import { generateDocument } from './document.ts';

test('deprecation() on a router marks its operations and describes the headers of every response', async () => {
  const since = new Date('2026-12-01T00:00:00Z');
  const sunset = new Date('2027-12-31T00:00:00Z');
  const router = createRouter()
    .use(deprecation({ from: '/v1', to: '/v2', since, sunset }))
    .get('/v1/:id', endpoint({ responses: { 200: {} } }), () => ({}));

  const { paths, components } = await generateDocument(router.getRoutes());

  const headers = {
    Deprecation: { $ref: '#/components/headers/Deprecation' },
    Sunset: { $ref: '#/components/headers/Sunset' },
    Link: { $ref: '#/components/headers/Link' },
  };
  expect(paths['/v1/{id}']?.get).toMatchObject({
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

import { createApp, createRouter } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { deprecation } from './deprecation.ts';

function createVersionedApp() {
  const app = createApp();
  const since = new Date('2026-12-01T00:00:00Z');
  app.use('/api/v1/users', deprecation({ from: '/api/v1/users', to: '/api/v2/users', since }));
  app.use((ctx) => ctx.json({}));
  return app;
}

test.each([
  ['/api/v1/users', '/api/v2/users'],
  ['/api/v1/users/42?page=2', '/api/v2/users/42'],
  ['/API/V1/Users/Ada', '/api/v2/users/Ada'],
  ['/api/v1/users/x>;rel="next', '/api/v2/users/x%3E;rel=%22next'],
])('%s names its successor %s', async (path, successor) => {
  const response = await request(createVersionedApp(), path);

  expect(response.headers.get('deprecation')).toBe('@1796083200');
  expect(response.headers.get('link')).toBe(`<${successor}>; rel="successor-version"`);
});

test('a path of more than 2,000 characters gets no Link, which a proxy could reject', async () => {
  const longest = '/api/v1/users/'.padEnd(2_000, 'a');

  const response = await request(createVersionedApp(), longest);
  const tooLong = await request(createVersionedApp(), `${longest}a`);

  expect(response.headers.get('link')).toContain(longest.replace('v1', 'v2'));
  expect(tooLong.headers.get('deprecation')).toBe('@1796083200');
  expect(tooLong.headers.get('link')).toBeNull();
});

test.each([
  [undefined, {}],
  [new Date('2026-12-01T12:00:00Z'), { Sunset: 'When this version ends (RFC 8594): 2026-12-01' }],
])('the metadata of a route describes the headers with the end %s', (sunset, expected) => {
  const since = new Date('2026-12-01T12:00:00Z');
  const announce = deprecation({ from: '/v1', to: '/v2', since, sunset });

  const [route] = createRouter()
    .get('/', announce, () => 'text')
    .getRoutes();

  expect(route?.metadata.deprecation).toEqual({
    headers: {
      Deprecation: 'When this version became deprecated (RFC 9745): 2026-12-01',
      Link: 'The same path in the new version, with the relation `successor-version`',
      ...expected,
    },
  });
});

test('deprecation announces the end of the version with Sunset', async () => {
  const since = new Date('2026-12-01T00:00:00Z');
  const sunset = new Date('2027-12-31T00:00:00Z');
  const app = createApp().use('/v1', deprecation({ from: '/v1', to: '/v2', since, sunset }));

  const response = await request(app, '/v1/users');

  expect(response.status).toBe(404);
  expect(response.headers.get('sunset')).toBe('Fri, 31 Dec 2027 00:00:00 GMT');
});

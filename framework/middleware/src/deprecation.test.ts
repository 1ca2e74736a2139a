import { createApp } from '@fw/core';
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
  ['/api/v1/users/a%2Fb', '/api/v2/users/a%2Fb'],
  ['/api/v1/users/x>;rel="next', '/api/v2/users/x%3E;rel=%22next'],
])('%s names its successor %s', async (path, successor) => {
  const response = await request(createVersionedApp(), path);

  expect(response.headers.get('deprecation')).toBe('@1796083200');
  expect(response.headers.get('link')).toBe(`<${successor}>; rel="successor-version"`);
});

test('deprecation sets no header on other paths', async () => {
  const response = await request(createVersionedApp(), '/api/v1/usersx');

  expect(response.headers.get('deprecation')).toBeNull();
});

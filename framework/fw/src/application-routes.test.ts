import { request } from '@fw/core/testing';
import { openapi } from '@fw/openapi';
import { expect, test } from 'vitest';

import { createApp, endpoint } from './index.ts';

test('openapi documents the routes of an application', async () => {
  const app = createApp();
  app.use(openapi({ router: app, docs: false }));
  app.get('/users/:id', endpoint({ summary: 'One user' }), (ctx) => ({ id: ctx.params.id }));

  const response = await request(app, '/openapi.json');

  expect(await response.json()).toMatchObject({
    paths: { '/users/{id}': { get: { summary: 'One user' } } },
  });
});

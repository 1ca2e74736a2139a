import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { endpoint } from './endpoint.ts';
import { createRouter } from './router.ts';

const logger = { info() {}, warn() {}, error() {} };

test('endpoint describes its route, and leaves its requests alone', async () => {
  const metadata = {
    summary: 'Reads a user',
    tags: ['users'],
    deprecated: true,
    visibility: 'internal',
    operationId: 'readUser',
    responses: { 200: { type: 'object' } },
  } as const;
  const router = createRouter().get('/users/:id', endpoint(metadata), (ctx) =>
    ctx.json(ctx.params),
  );

  const response = await request(createApp({ logger }).use(router.routes()), '/users/7');

  expect(await response.json()).toEqual({ id: '7' });
  expect(router.getRoutes()).toEqual([
    { method: 'GET', path: '/users/:id', metadata: { endpoint: metadata } },
  ]);
});

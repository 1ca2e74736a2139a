import { createApp, createRouter, endpoint, type Middleware, type Router } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { mcp } from './mcp/mcp.ts';
import { openapi } from './openapi.ts';

function usersRouter() {
  return createRouter().get('/users/:id', () => 'user');
}

test('a documented router that is not mounted is logged once at start', async () => {
  const { problems, logger } = recordLog();
  const router = createRouter().mount('/api', usersRouter());
  const app = createApp({ logger }).use(openapi({ router }));

  await app.ready();
  await app.ready();

  expect((await request(app, '/api/users/7')).status).toBe(404);
  expect(problems).toEqual([
    'warn: The OpenAPI document has /api/users/:id, but requests for it get 404, because its router is not mounted: use app.route(prefix, router)',
  ]);
});

test('a router of which only one of two parents is mounted is logged with the other path', async () => {
  const { problems, logger } = recordLog();
  const users = usersRouter();
  createRouter().mount('/old', users);
  const app = createApp({ logger })
    .use(openapi({ router: users }))
    .route('/new', users);

  await app.ready();

  expect(problems).toEqual([
    expect.stringContaining('has /old/users/:id, but requests for it get 404'),
  ]);
});

test('nothing is logged for schemas that the option toJsonSchema may describe', async () => {
  const { problems, logger } = recordLog();
  const router = createRouter().get('/', endpoint({ reads: { query: z.custom() } }), () => '');
  const app = createApp({ logger }).use(openapi({ router, toJsonSchema: () => ({}) }));

  await app.route('/', router).ready();

  expect(problems).toEqual([]);
});

test.each<[string, (router: Router) => Middleware]>([
  ['openapi()', (router) => openapi({ router })],
  ['mcp()', (router) => mcp({ router, tools: ['find'] })],
])('an application with %s does not start with a query of any names', async (_, serve) => {
  const query = z.record(z.string(), z.string());
  const router = createRouter().get(
    '/',
    endpoint({ operationId: 'find', reads: { query } }),
    () => '',
  );
  const app = createApp().use(serve(router)).route('/', router);

  await expect(app.ready()).rejects.toThrow('Cannot document the query of GET /: the schema');
});

test('nothing is logged for a router that is mounted later or another way', async () => {
  const { problems, logger } = recordLog();
  const [later, direct, nested, shared] = Array.from({ length: 4 }, usersRouter);
  const excluded = createRouter().get('/excluded', () => '');
  const internal = createRouter().get('/', endpoint({ visibility: 'internal' }), () => '');
  const documented = createRouter().mount('/shared', shared!);
  const app = createApp({ logger });
  app.get('/own', () => '');
  const routers = [app, later!, direct!, nested!, excluded, internal, documented];
  app.use(openapi({ routers, exclude: ['/excluded'], toJsonSchema: () => ({}) }));
  app.plugin(async () => {
    await Promise.resolve();
    app.route('/later', later!);
  });
  app.use(direct!.routes());
  app.route('/outer', createRouter().mount('/nested', nested!));
  app.route('/shared', shared!);

  await app.ready();

  expect(problems).toEqual([]);
});

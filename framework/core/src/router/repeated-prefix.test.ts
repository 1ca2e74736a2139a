import { createApp } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { expect, test } from 'vitest';
import { createRouter } from './router.ts';
import type { AnyRouter } from './types.ts';

const users = () => createRouter({ prefix: '/users' }).get('/:id', () => 'user');

/** What an application with `router` at `prefix` logs at start. */
async function warningsOf(prefix: string, router: AnyRouter): Promise<string[]> {
  const { logger, problems } = recordLog();
  const app = createApp({ logger }).route(prefix, router);
  await app.ready();
  await app.ready();
  return problems;
}

test.each<[string, string, AnyRouter, string]>([
  ['at its own prefix', '/users', users(), '/users'],
  ['in another case', '/Users/', users(), '/Users'],
  ['at a path that ends in its prefix', '/api/users', users(), '/api/users'],
  ['on another router', '/api', createRouter().mount('/users', users()), '/api/users'],
  [
    'in a group',
    '/',
    createRouter().group('/users', (group) => group.mount('/', users())),
    '/users',
  ],
])(
  'a router with a prefix that is mounted %s is logged once at start',
  async (_, at, router, path) => {
    expect(await warningsOf(at, router)).toEqual([
      `warn: A router with the prefix "/users" is mounted at "${path}": it serves ${path}/users; remove one of the two`,
    ]);
  },
);

test.each<[string, string, AnyRouter]>([
  ['its prefix is elsewhere', '/', users()],
  ['its prefix is "/"', '/', createRouter({ prefix: '/' }).get('/a', () => '')],
  ['its prefix begins the path', '/users/all', users()],
  ['the path ends in the same letters', '/old-users', users()],
  ['its routes begin with the path', '/users', createRouter().get('/users/:id', () => '')],
  ['its group has the path', '/users', createRouter().group('/users', (g) => g.get('/', () => ''))],
  [
    'case matters',
    '/Users',
    createRouter({ prefix: '/users', caseSensitive: true }).get('/', () => ''),
  ],
])('nothing is logged if %s', async (_, at, router) => {
  expect(await warningsOf(at, router)).toEqual([]);
});

test('a repeated prefix is served as it was registered', async () => {
  const app = createApp({ logger: quiet }).route('/users', users());

  expect((await request(app, '/users/users/7')).status).toBe(200);
});

import { quiet, request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { createApp } from '../application.ts';
import { createRouter } from './router.ts';
import type { Router } from './types.ts';

const CONFLICT = 'Route conflict: PUT /a is already registered';
const conflicting = () => createRouter().put('/a', () => 'second');

test.each<readonly [string, (router: Router) => unknown]>([
  ['put()', (router) => router.put('/a', () => 'second')],
  ['all()', (router) => router.all('/a', () => 'second')],
  [
    'mount()',
    (router) =>
      router.mount(
        '/',
        conflicting().get('/b', () => ''),
      ),
  ],
  [
    'use() of routers',
    (router) =>
      router.use(
        '/',
        createRouter().get('/b', () => ''),
        conflicting(),
      ),
  ],
  [
    'group()',
    (router) => router.group('/', (group) => group.get('/b', () => '').put('/a', () => '')),
  ],
])('%s that fails changes nothing', (_, register) => {
  const router = createRouter().put('/a', () => 'first');
  const outer = createRouter().mount('/outer', router);

  expect(() => register(router)).toThrow(CONFLICT);

  expect(router.getRoutes().map(({ method, path }) => `${method} ${path}`)).toEqual([
    'PUT /outer/a',
  ]);
  expect(outer.match('GET', '/outer/b')).toBeUndefined();
});

test('use() that fails leaves an earlier mount of the same router', () => {
  const shared = createRouter().put('/a', () => '');
  const router = createRouter()
    .put('/a', () => '')
    .mount('/first', shared);

  expect(() => router.use('/', shared)).toThrow(CONFLICT);
  shared.get('/later', () => '');

  expect(router.match('GET', '/first/later')).toBeDefined();
});

test('all() of an application that fails changes nothing', async () => {
  const app = createApp({ logger: quiet }).put('/a', () => 'first');

  expect(() => app.all('/a', () => 'second')).toThrow(CONFLICT);

  expect((await request(app, '/a')).status).toBe(404);
  expect(await (await request(app, '/a', { method: 'PUT' })).text()).toBe('first');
});

import { createApp } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { describe, expect, test } from 'vitest';

import { createRouter } from './router.ts';

/** The response of a router that only redirects. */
function follow(path: string, [from, to, status]: [string, string, number?], method = 'GET') {
  const router = createRouter().redirect(from, to, status);
  const app = createApp({ logger: quiet }).use(router.routes(), router.allowedMethods());
  return request(app, path, { method });
}

describe('a redirect', () => {
  test.each([
    ['/u/7', '/u/:id', '/p/:id', '/p/7'],
    ['/u/John', '/u/:id', '/p/:id/edit', '/p/John/edit'],
    ['/u/7/posts/9', '/u/:id/posts/:post', '/p/:post/by/:id', '/p/9/by/7'],
    ['/u/7', '/u/:id', '/p/:id.html', '/p/7.html'],
    ['/u/7', '/u/:id', '/p/:id:edit', '/p/7:edit'],
    ['/u/7', '/u/:id', '/p/*/:id', '/p/*/7'],
    ['/old/a/b%20c', '/old/*', '/new/*', '/new/a/b%20c'],
    ['/u/7', '/u/:id', 'https://example.com/:id', 'https://example.com/7'],
    ['/u/7', '/u/:id', 'http://example.com:8080', 'http://example.com:8080'],
    ['/a', '/a', '/café', '/caf%C3%A9'],
    ['/a', '/a', '/x\ud800?q=\udc00 y', '/x%EF%BF%BD?q=%EF%BF%BD%20y'],
    ['/ext', '/ext', 'https://docs.example.com/a:b', 'https://docs.example.com/a:b'],
    ['/u/7', '/u/:id', '/wiki/User:id/:id', '/wiki/User:id/7'],
    ['/u/7', '/u/:id', '/:id?next=/:id&at=:id', '/7?next=/:id&at=:id'],
    ['/old/a/b', '/old/*', '/new/*?from=old', '/new/a/b?from=old'],
  ])('of %s from %s to %s leads to %s', async (path, from, to, location) => {
    const response = await follow(path, [from, to]);

    expect(response.status).toBe(301);
    expect(response.headers.get('location')).toBe(location);
    expect(await response.text()).toBe('');
  });

  test.each([
    ['/u/a%2Fb', '/p/a%2Fb'],
    ['/u/caf%C3%A9', '/p/caf%C3%A9'],
    ['/u/a%3Fb%23c', '/p/a%3Fb%23c'],
    ['/u/%252e', '/p/%252e'],
    ['/u/%0D%0ASet-Cookie:x', '/p/%0D%0ASet-Cookie%3Ax'],
  ])('encodes the value of %s again as one segment', async (path, location) => {
    expect((await follow(path, ['/u/:id', '/p/:id'])).headers.get('location')).toBe(location);
  });

  test.each([
    ['/go/%2Fevil.example', '/go/:to', '/:to'],
    ['/go/%2F%2Fevil.example', '/go/:to', '/:to'],
    ['/go/%2Fevil.example', '/go/*', '/*'],
    ['/go/a%2F%2Fevil.example', '/go/*', '/*'],
    ['/go/%2F/%2F/evil.example', '/go/*', '/*'],
    ['/go/evil.example/', '/go/*', '/*'],
    ['/go/%09/x', '/go/*', '/*'],
  ])('of %s from %s to %s never leads to another host', async (path, from, to) => {
    const location = (await follow(path, [from, to])).headers.get('location') ?? '';

    expect(location).toMatch(/^\/(?![/\\])/);
    expect(new URL(location, 'http://own.example').host).toBe('own.example');
  });

  test.each([
    ['/u/7?page=2&q=a%20b', '/p/:id', '/p/7?page=2&q=a%20b'],
    ['/u/7?page=2', '/p/:id?from=u', '/p/7?from=u&page=2'],
    ['/u/7?', '/p/:id', '/p/7'],
    ['/u/7?to=//evil.example', '/p/:id', '/p/7?to=//evil.example'],
    ['/u/7?page=2', 'https://example.com/:id', 'https://example.com/7?page=2'],
  ])('keeps the query of %s on the way to %s', async (path, to, location) => {
    expect((await follow(path, ['/u/:id', to])).headers.get('location')).toBe(location);
  });

  test.each([301, 302, 303, 307, 308])(
    'responds to GET and HEAD with status %i',
    async (status) => {
      expect((await follow('/a', ['/a', '/b', status])).status).toBe(status);
      expect((await follow('/a', ['/a', '/b', status], 'HEAD')).status).toBe(status);
    },
  );

  test.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY'])(
    'with 307 and 308 responds to %s, and one with 301 does not',
    async (method) => {
      expect((await follow('/a', ['/a', '/b', 307], method)).status).toBe(307);
      expect((await follow('/a', ['/a', '/b', 308], method)).status).toBe(308);
      expect((await follow('/a', ['/a', '/b', 301], method)).headers.get('location')).toBeNull();
    },
  );

  test.each([200, 300, 304, 305, 306, 309, 400, 301.5, Number.NaN])(
    'with status %d throws at registration',
    (status) => {
      expect(() => createRouter().redirect('/a', '/b', status)).toThrow(
        `Cannot redirect /a to "/b" with status "${status}": expected 301, 302, 303, 307 or 308`,
      );
    },
  );

  test.each([
    ...'javascript:alert(1) JavaScript:alert(1) data:text/html,x ftp://example.com/'.split(' '),
    ...'//example.com /\\example.com \\\\example.com a https:// https://:id.example.com/ /a#b'.split(
      ' ',
    ),
    ...[' /a', '', undefined as never],
  ])('to "%s" throws at registration', (to) => {
    expect(() => createRouter().redirect('/a/:id', to)).toThrow(
      `Cannot redirect /a/:id to "${to}": expected a path or an http URL`,
    );
  });

  test('to an unknown parameter throws at registration', () => {
    expect(() => createRouter().redirect('/u/:id', '/p/:name')).toThrow(
      'Cannot redirect /u/:id to "/p/:name": "name" must be a parameter of /u/:id',
    );
    expect(() => createRouter().redirect('/u/:id', '/p/*')).toThrow('"*" must be a parameter');
  });

  test('reads its own parameters under a mount and next to other names', async () => {
    const router = createRouter()
      .get('/u/:name/posts', (ctx) => ctx.send(''))
      .redirect('/u/:id', '/p/:id');
    const app = createApp({ logger: quiet }).route('/:tenant', router);

    expect((await request(app, '/acme/u/7')).headers.get('location')).toBe('/p/7');
  });
});

test('a redirect has its response in its metadata', () => {
  const [route] = createRouter().redirect('/old', '/new', 308).getRoutes();

  expect(route?.metadata).toEqual({ responses: { 308: { headers: { Location: 'Where to go' } } } });
});

import { describe, expect, test } from 'vitest';

import { createApp } from './application.ts';
import { listen } from './listen.ts';
import { openConnection, request } from './testing.ts';

const silent = { info() {}, warn() {}, error() {} };

describe('ctx.redirect', () => {
  test.each([
    ['/日', '/%E6%97%A5'],
    ['/é', '/%C3%A9'],
    ['/😀', '/%F0%9F%98%80'],
    ['/\u212a\u017f', '/%E2%84%AA%C5%BF'], // equal to "k" and "s" where case is ignored
    ['/\ud800', '/%EF%BF%BD'],
    ['/a b"<>`{}|\\^', '/a%20b%22%3C%3E%60%7B%7D%7C%5C%5E'],
    ['/a\r\nSet-Cookie: a=b\0', '/a%0D%0ASet-Cookie:%20a=b%00'],
    ['/a%20b%2Fc', '/a%20b%2Fc'],
    ['/100%', '/100%25'],
    ['/%zz%4', '/%25zz%254'],
    ['https://[::1]:8080/a?b=c&d[]=e#f', 'https://[::1]:8080/a?b=c&d[]=e#f'],
    ["/-._~!$&'()*+,;=:@", "/-._~!$&'()*+,;=:@"],
    ['', ''],
  ])('to %j sends Location: %s', async (url, location) => {
    const app = createApp({ logger: silent }).use((ctx) => ctx.redirect(url));

    const response = await request(app, '/');

    expect(response.status).toBe(302);
    expect(response.headers.get('location')).toBe(location);
    expect(response.headers.getSetCookie()).toEqual([]);
  });

  test('to a query value with CR and LF sends one Location header', async () => {
    const app = createApp({ logger: silent }).use((ctx) => ctx.redirect(`/to/${ctx.query.page}`));
    const server = await listen(app, 0);

    const octets = await openConnection(server.port)
      .send('GET /?page=a%0d%0aSet-Cookie:%20b=c HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')
      .readAll();

    expect(octets).toMatch(/^HTTP\/1\.1 302 Found\r\n/);
    expect(octets).toContain('\r\nLocation: /to/a%0D%0ASet-Cookie:%20b=c\r\n');
    expect(octets).not.toContain('\r\nSet-Cookie');
    await server.close();
  });
});

import { describe, expect, test } from 'vitest';

import { createApp } from './application.ts';
import { request } from './testing.ts';

const silent = { info() {}, warn() {}, error() {} };

describe('an error response', () => {
  test.each([
    ['Content-Security-Policy', "default-src 'none'"],
    ['Content-Security-Policy-Report-Only', "default-src 'none'"],
    ['X-Content-Type-Options', 'nosniff'],
    ['Cache-Control', 'no-store'],
    ['Cache-Control', 'private, No-Store, max-age=0'],
    ['Cache-Control', 'no-cache'],
    ['Vary', 'Origin'],
  ])('keeps %s: %s', async (name, value) => {
    const app = createApp({ logger: silent }).use(
      (ctx, next) => {
        ctx.set(name, value);
        return next();
      },
      (ctx) => ctx.throw(404),
    );

    const response = await request(app, '/');

    expect(response.status).toBe(404);
    expect(response.headers.get(name)).toBe(value);
  });

  test.each([
    ['Cache-Control', 'public, max-age=3600'],
    ['Cache-Control', 'private, max-age=60'],
    ['Content-Encoding', 'gzip'],
    ['Content-Language', 'de'],
    ['Content-Range', 'bytes 0-1/2'],
    ['Content-Disposition', 'attachment; filename="report.csv"'],
    ['Content-Location', '/report.csv'],
    ['Content-Digest', 'sha-256=:abc=:'],
    ['Repr-Digest', 'sha-256=:abc=:'],
    ['Accept-Ranges', 'bytes'],
    ['ETag', '"1"'],
    ['Last-Modified', 'Thu, 01 Jan 2026 00:00:00 GMT'],
    ['Expires', 'Thu, 01 Jan 2037 00:00:00 GMT'],
    ['Location', '/elsewhere'],
  ])('does not keep %s: %s of the response that it replaces', async (name, value) => {
    const app = createApp({ logger: silent }).use((ctx) => {
      ctx.set(name, value).send('a,b');
      ctx.throw(404);
    });

    const response = await request(app, '/');

    expect(response.status).toBe(404);
    expect(response.headers.get(name)).toBeNull();
    expect(response.headers.get('content-type')).toBe('application/problem+json');
  });
});

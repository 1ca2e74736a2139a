import { createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { describe, expect, test } from 'vitest';
import {
  NONCE,
  nonceOf,
  type SecurityHeadersOptions,
  securityHeaders,
} from './security-headers.ts';

async function headersOf(
  options?: SecurityHeadersOptions,
  handler: Middleware = (ctx) => ctx.json({}),
): Promise<Record<string, string>> {
  const app = createApp({ logger: quiet, trustProxy: 1 });
  app.use(securityHeaders(options), errorHandler(), handler);
  const headers = { 'X-Forwarded-Proto': 'https' };
  return Object.fromEntries((await request(app, '/', { headers })).headers);
}

const DEFAULTS = {
  'content-security-policy':
    "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; img-src 'self' data:; object-src 'none'",
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'origin-agent-cluster': '?1',
  'referrer-policy': 'no-referrer',
  'strict-transport-security': 'max-age=31536000; includeSubDomains',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
};

test.each<readonly [string, Middleware]>([
  ['a response', (ctx) => ctx.json({})],
  ['a problem response', () => Promise.reject(new Error('failed'))],
])('%s has the default headers', async (_, handler) => {
  const headers = await headersOf({}, handler);

  expect(headers).toMatchObject(DEFAULTS);
  expect(Object.keys(headers)).not.toContain('cross-origin-embedder-policy');
  expect(Object.keys(headers)).not.toContain('permissions-policy');
});

test('Strict-Transport-Security is not sent without TLS', async () => {
  const app = createApp().use(securityHeaders(), (ctx) => ctx.json({}));

  const { headers } = await request(app, '/');

  expect(headers.has('strict-transport-security')).toBe(false);
  expect(headers.get('x-content-type-options')).toBe('nosniff');
});

test('every header can be omitted', async () => {
  const headers = await headersOf({
    contentSecurityPolicy: false,
    strictTransportSecurity: false,
    noSniff: false,
    frameOptions: false,
    referrerPolicy: false,
    crossOriginOpenerPolicy: false,
    crossOriginResourcePolicy: false,
    originAgentCluster: false,
  });

  expect(Object.keys(DEFAULTS).filter((name) => name in headers)).toEqual([]);
});

test('options change the value of a header', async () => {
  const headers = await headersOf({
    strictTransportSecurity: { maxAgeSeconds: 60, includeSubDomains: false, preload: true },
    frameOptions: 'SAMEORIGIN',
    referrerPolicy: 'strict-origin',
    crossOriginEmbedderPolicy: 'credentialless',
    permissionsPolicy: {
      camera: [],
      geolocation: ['self', 'https://maps.example'],
      fullscreen: ['*'],
    },
  });

  expect(headers).toMatchObject({
    'strict-transport-security': 'max-age=60; preload',
    'x-frame-options': 'SAMEORIGIN',
    'referrer-policy': 'strict-origin',
    'cross-origin-embedder-policy': 'credentialless',
    'permissions-policy': 'camera=(), geolocation=(self "https://maps.example"), fullscreen=(*)',
  });
});

test('a header that the handler sets replaces the one of securityHeaders', async () => {
  const own = "default-src 'none'";

  const headers = await headersOf({}, (ctx) => {
    ctx.set('Content-Security-Policy', own).set('Referrer-Policy', 'origin').html('<p>');
  });

  expect(headers['content-security-policy']).toBe(own);
  expect(headers['referrer-policy']).toBe('origin');
});

describe('contentSecurityPolicy', () => {
  test('given directives replace default ones, and false removes them', async () => {
    const headers = await headersOf({
      contentSecurityPolicy: {
        'img-src': ['https:'],
        'object-src': false,
        'upgrade-insecure-requests': [],
      },
    });

    expect(headers['content-security-policy']).toBe(
      "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; img-src https:; upgrade-insecure-requests",
    );
  });

  test('NONCE is replaced by a nonce that differs between requests', async () => {
    const options = { contentSecurityPolicy: { 'script-src': [NONCE], 'style-src': [NONCE] } };
    const nonces: string[] = [];
    const handler: Middleware = (ctx) => {
      nonces.push(nonceOf(ctx));
      ctx.html(`<script nonce="${nonceOf(ctx)}"></script>`);
    };

    const first = await headersOf(options, handler);
    const second = await headersOf(options, handler);

    expect(nonces[0]).toMatch(/^[\w+/]{22}==$/);
    expect(new Set(nonces).size).toBe(2);
    for (const [index, headers] of [first, second].entries()) {
      expect(headers['content-security-policy']).toContain(
        `script-src 'nonce-${nonces[index]}'; style-src 'nonce-${nonces[index]}'`,
      );
    }
  });
});

import { createHash } from 'node:crypto';
import { createApp, createRouter } from '@fw/core';
import { request } from '@fw/core/testing';
import { expect, test } from 'vitest';

import { type OpenApiOptions, openapi } from '../index.ts';

const HOSTILE = `</title></script><script>alert(1)</script>"'&`;

async function readPage(options: Partial<OpenApiOptions> = {}) {
  const app = createApp().use(openapi({ router: createRouter(), ...options }));
  const response = await request(app, '/docs');
  const policy = response.headers.get('content-security-policy') ?? '';
  const directives = new Map(
    policy.split('; ').map((directive) => {
      const [name = '', ...sources] = directive.split(' ');
      return [name, sources];
    }),
  );
  return { response, html: await response.text(), directives };
}

function hashesOf(html: string, tag: 'script' | 'style'): string[] {
  return [...html.matchAll(new RegExp(`<${tag}>([^]*?)</${tag}>`, 'g'))].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
}

test('the page is one file below 60 kB without another origin', async () => {
  const { response, html } = await readPage();

  expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(Buffer.byteLength(html)).toBeLessThan(60_000);
  expect(html).not.toMatch(/<(?:script|link|img|iframe)[^>]+(?:src|href)=["']?(?:https?:)?\/\//);
  expect(html).not.toMatch(/@import|url\(/);
});

test('its policy allows only its own script, its own style and the document', async () => {
  const { html, directives } = await readPage();

  expect(directives.get('default-src')).toEqual(["'none'"]);
  expect(directives.get('script-src')).toEqual(hashesOf(html, 'script'));
  expect(directives.get('style-src')).toEqual(hashesOf(html, 'style'));
  expect(directives.get('connect-src')).toEqual(["'self'"]);
  expect(html).not.toMatch(/ style=| on[a-z]+=["']/);
});

test.each([
  ['fw', "; img-src data:; require-trusted-types-for 'script'; "],
  [
    'scalar',
    "; style-src 'unsafe-inline'; img-src 'self' data: blob:; font-src data:; worker-src blob:; ",
  ],
  ['swagger', "; style-src https://cdn.jsdelivr.net 'unsafe-inline'; img-src 'self' data:; "],
] as const)('the policy of the page %s allows what it needs%s', async (ui, own) => {
  const { response } = await readPage({ docs: { ui } });

  const common = "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy.slice(-(own + common).length)).toBe(own + common);
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('referrer-policy')).toBe('no-referrer');
});

test('scalar loads no fonts and sends no telemetry', async () => {
  const { html } = await readPage({ docs: { ui: 'scalar' } });

  const [, text = ''] = /data-url="openapi.json" data-configuration="([^"]*)"/.exec(html) ?? [];
  expect(JSON.parse(text.replaceAll('&#34;', '"'))).toEqual({
    withDefaultFonts: false,
    telemetry: false,
  });
});

test('swagger loads its style and the document that the page names', async () => {
  const { html } = await readPage({ docs: { ui: 'swagger' } });

  expect(html).toMatch(
    /<link rel="stylesheet" href="https:\/\/cdn.jsdelivr.net\/npm\/swagger-ui-dist@[\d.]+\/swagger-ui.css"/,
  );
  expect(html).toContain(
    "<script>SwaggerUIBundle({ url: document.documentElement.dataset.document, dom_id: '#page' });",
  );
  expect(html).toContain('data-document="openapi.json"');
  expect(html).toContain('<title>API</title>');
});

test.each([
  ['/docs', '/openapi.json', 'openapi.json'],
  ['/docs', '/docs/v1/openapi.json', 'docs/v1/openapi.json'],
  ['/v1/docs/read', '/v1/openapi.json', '../openapi.json'],
  ['/v1/docs/read', '/v2/docs/openapi.json', '../../v2/docs/openapi.json'],
  ['/v1/docs', '/v1', '../v1'],
  ['/v1/docs/read', '/v1/docs', '../docs'],
  ['/', '/spec.json/', 'spec.json'],
])('the page %s loads the document %s from %s', async (docs, path, link) => {
  const app = createApp().use(openapi({ router: createRouter(), docs, path }));

  const html = await (await request(app, docs)).text();
  const document = await request(app, new URL(link, `http://host${docs}`).pathname);

  expect(html).toContain(`data-document="${link}"`);
  expect(await document.json()).toMatchObject({ openapi: '3.1.1' });
});

test('requests may be sent to the servers that the document names', async () => {
  const { directives } = await readPage({
    servers: [
      { url: 'https://api.example.com/v1' },
      { url: '/v1' },
      { url: 'urn:api' },
      { url: 'https://api.example.com/v2' },
    ],
  });

  expect(directives.get('connect-src')).toEqual(["'self'", 'https://api.example.com']);
});

test.each(['fw', 'scalar', 'swagger'] as const)(
  'a hostile title is text in the page of %s',
  async (ui) => {
    const { html } = await readPage({
      docs: { ui },
      info: { title: HOSTILE, description: HOSTILE },
    });

    expect(html).not.toContain('<script>alert(1)');
    expect(html).toContain('<title>&#60;/title&#62;');
  },
);

test.each([
  [
    'scalar',
    'https://cdn.jsdelivr.net/npm/@scalar/api-reference@1.72.1/dist/browser/standalone.js',
  ],
  ['swagger', 'https://cdn.jsdelivr.net/npm/swagger-ui-dist@5.35.0/swagger-ui-bundle.js'],
] as const)('%s comes from the CDN in a pinned version with its hash', async (ui, url) => {
  const { html, directives } = await readPage({ docs: { ui } });

  expect(html).toMatch(
    new RegExp(`src="${url}" integrity="sha384-[A-Za-z0-9+/]{64}" crossorigin="anonymous"`),
  );
  expect(directives.get('default-src')).toEqual(["'none'"]);
  expect(directives.get('script-src')).toEqual([
    'https://cdn.jsdelivr.net',
    ...hashesOf(html, 'script'),
  ]);
  for (const [tag] of html.matchAll(/<(?:script|link)[^>]+https:[^>]+>/g)) {
    expect(tag).toContain('integrity="sha384-');
  }
});

test('cdn sets the server of the files', async () => {
  const { html, directives } = await readPage({
    docs: { ui: 'scalar', cdn: 'http://static.example.com/npm/', path: '/docs' },
  });

  expect(html).toContain('src="http://static.example.com/npm/@scalar/api-reference@');
  expect(directives.get('script-src')).toEqual(['http://static.example.com']);
});

import { request } from '@fw/core/testing';
import { createRouter, endpoint } from 'fw';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { documents } from './documents.ts';
import { createServiceApp } from './service-app.ts';

const THINGS = {
  name: 'things',
  title: 'Things',
  version: '1.2.3',
  description: 'Keeps things.',
};

const LICENSE = { name: 'MIT', identifier: 'MIT' };

function newService(license?: typeof LICENSE) {
  const router = createRouter().get(
    '/api/v2/things/:id',
    endpoint({ summary: 'Read a thing', responses: { 200: { schema: z.object({}) } } }),
    (ctx) => ctx.json({}),
  );
  const app = createServiceApp();
  app.use(documents({ ...THINGS, ...(license && { license }), routers: [router] }));
  return app.route('/', router);
}

test.each(['/openapi.json', '/docs/things/openapi.json'])('%s is the document', async (path) => {
  const response = await request(newService(), path);

  expect(await response.json()).toMatchObject({
    info: { title: 'Things', version: '1.2.3', description: 'Keeps things.' },
    paths: { '/api/v2/things/{id}': { get: { summary: 'Read a thing' } } },
  });
});

test.each([
  ['no license', undefined],
  ['the license that is given', LICENSE],
])('the document has %s', async (_, license) => {
  const response = await request(newService(license), '/openapi.json');

  const { info } = (await response.json()) as { readonly info: { readonly license?: object } };
  expect(info.license).toEqual(license);
});

test.each([
  ['/docs', '/openapi.json'],
  ['/docs/things', '/docs/things/openapi.json'],
])('%s is a page that loads %s', async (page, path) => {
  const response = await request(newService(), page);

  expect(response.headers.get('content-type')).toContain('text/html');
  const named = /"([^"]*openapi\.json)"/.exec(await response.text())?.[1];
  expect(new URL(named ?? '', `http://localhost${page}`).pathname).toBe(path);
});

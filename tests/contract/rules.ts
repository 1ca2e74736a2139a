import assert from 'node:assert/strict';

import { type Api, readJson, readNothing, readProblem } from './api.ts';
import { type Check, check } from './check.ts';

const SERVICES = ['users', 'catalog', 'reports'] as const;

/** What holds of every service: unknown paths and methods, spellings, documents, versions. */
export const rulesChecks: readonly Check<Api>[] = [
  check('a path that no route matches answers 404', async (api) => {
    for (const url of ['/api/v1/users/1/2', '/api/v1/catalog/1/2', '/api/v1/reports/1/2']) {
      await readProblem(await api.get(url), 404, 'NOT_FOUND');
    }
  }),
  ...(
    [
      ['PATCH', '/api/v1/users', 'GET, HEAD, POST'],
      ['POST', '/api/v1/users/7', 'GET, HEAD, PUT, DELETE'],
      ['DELETE', '/api/v1/catalog', 'GET, HEAD'],
      ['PUT', '/api/v1/reports', 'GET, HEAD'],
    ] as const
  ).flatMap(([method, url, allow]) => [
    check<Api>(`${method} ${url} answers 405 with Allow: ${allow}`, async (api) => {
      const response = await api.send(method, url, {});

      assert.equal(response.headers.get('allow'), allow);
      await readProblem(response, 405, 'METHOD_NOT_ALLOWED');
    }),
    check<Api>(`OPTIONS ${url} answers 200 with Allow: ${allow}`, async (api) => {
      const response = await api.send('OPTIONS', url);

      assert.equal(response.headers.get('allow'), allow);
      await readNothing(response, 200);
    }),
  ]),
  check('HEAD answers what GET does, without the body', async (api) => {
    const got = await api.get('/api/v1/catalog?limit=3');
    const headed = await api.send('HEAD', '/api/v1/catalog?limit=3');

    assert.equal(Number(headed.headers.get('content-length')), Buffer.byteLength(await got.text()));
    assert.equal(headed.headers.get('content-type'), got.headers.get('content-type'));
    await readNothing(headed, 200);
  }),
  check('a path is the same with and without a slash at its end', async (api) => {
    for (const url of ['/api/v1/users/?limit=1', '/api/v1/catalog/?limit=1']) {
      await readJson(await api.get(url));
    }
    assert.equal((await api.get('/api/v1/reports/')).status, 401);
  }),
  check('a body that is no JSON answers 400, one of another type 415', async (api) => {
    const url = '/api/v1/users';
    await readProblem(await api.send('POST', url, '{"name":'), 400, 'INVALID_JSON');
    const xml = await api.send('POST', url, '<a/>', { 'content-type': 'text/xml' });
    await readProblem(xml, 415, 'UNSUPPORTED_MEDIA_TYPE');
  }),
  check('an error never echoes what was sent', async (api) => {
    const mark = 'echo7341';
    const answers = await Promise.all([
      api.get(`/api/v1/catalog?page=${mark}`),
      api.send('POST', '/api/v1/users', `{"name": ${mark}`),
      api.get('/api/v1/reports', { authorization: `Bearer ${mark}` }),
    ]);

    for (const answer of answers) {
      assert.ok(answer.status >= 400 && answer.status < 500, `${answer.url}: ${answer.status}`);
      assert.ok(!(await answer.text()).includes(mark), `${answer.url} echoes`);
    }
  }),
  ...SERVICES.map((name) =>
    check<Api>(`version 1 of ${name} says that it is deprecated, and by what`, async (api) => {
      const { headers } = await api.get(`/api/v1/${name}`);

      assert.match(headers.get('deprecation') ?? '', /^@\d+$/);
      assert.match(
        headers.get('link') ?? '',
        new RegExp(`</api/v2/${name}>; rel="successor-version"`),
      );
    }),
  ),
  ...SERVICES.map((name) =>
    check<Api>(`the document of ${name} is OpenAPI 3.1 and names version 1 and 2`, async (api) => {
      const document = await readJson(await api.get(`/docs/${name}/openapi.json`));

      assert.match(document.openapi, /^3\.1\./);
      const paths = Object.keys(document.paths);
      for (const version of ['v1', 'v2']) {
        assert.ok(
          paths.some((path) => path.startsWith(`/api/${version}/${name}`)),
          `${version} is in ${paths}`,
        );
      }
      const page = await api.get(`/docs/${name}`);
      assert.equal(page.status, 200);
      assert.match(page.headers.get('content-type') ?? '', /^text\/html\b/);
    }),
  ),
];

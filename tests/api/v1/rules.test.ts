import assert from 'node:assert/strict';

import { readJson, readNothing, readProblem } from '@fw/service/testing';
import { test } from 'vitest';
import { SERVICES } from '../../../services/services.ts';
import { readTarget } from '../target.ts';

const { api } = readTarget();

test('a path without a route returns 404', async () => {
  for (const url of ['/api/v1/users/1/2', '/api/v1/catalog/1/2', '/api/v1/reports/1/2']) {
    await readProblem(await api.get(url), 404, 'NOT_FOUND');
  }
});

for (const [method, url, allow] of [
  ['PATCH', '/api/v1/users', 'GET, HEAD, POST'],
  ['POST', '/api/v1/users/7', 'GET, HEAD, PUT, DELETE'],
  ['DELETE', '/api/v1/catalog', 'GET, HEAD'],
  ['PUT', '/api/v1/reports', 'GET, HEAD'],
] as const) {
  test(`${method} ${url} returns 405 with Allow: ${allow}`, async () => {
    const response = await api.send(method, url, {});

    assert.equal(response.headers.get('allow'), allow);
    await readProblem(response, 405, 'METHOD_NOT_ALLOWED');
  });

  test(`OPTIONS ${url} returns 200 with Allow: ${allow}`, async () => {
    const response = await api.send('OPTIONS', url);

    assert.equal(response.headers.get('allow'), allow);
    await readNothing(response, 200);
  });
}

test('HEAD returns the headers of GET without the body', async () => {
  const got = await api.get('/api/v1/catalog?limit=3');
  const headed = await api.send('HEAD', '/api/v1/catalog?limit=3');

  assert.equal(Number(headed.headers.get('content-length')), Buffer.byteLength(await got.text()));
  assert.equal(headed.headers.get('content-type'), got.headers.get('content-type'));
  await readNothing(headed, 200);
});

test('a trailing slash does not change the response', async () => {
  for (const url of ['/api/v1/users/?limit=1', '/api/v1/catalog/?limit=1']) {
    await readJson(await api.get(url));
  }
  assert.equal((await api.get('/api/v1/reports/')).status, 401);
});

test('invalid JSON returns 400, another content type returns 415', async () => {
  const url = '/api/v1/users';
  await readProblem(await api.send('POST', url, '{"name":'), 400, 'INVALID_JSON');
  const xml = await api.send('POST', url, '<a/>', { 'content-type': 'text/xml' });
  await readProblem(xml, 415, 'UNSUPPORTED_MEDIA_TYPE');
});

test('an error response never echoes the request', async () => {
  const mark = 'echo7341';
  const responses = await Promise.all([
    api.get(`/api/v1/catalog?page=${mark}`),
    api.send('POST', '/api/v1/users', `{"name": ${mark}`),
    api.get('/api/v1/reports', { authorization: `Bearer ${mark}` }),
  ]);

  for (const response of responses) {
    const { status, url } = response;
    assert.ok(status >= 400 && status < 500, `${url}: ${status}`);
    assert.ok(!(await response.text()).includes(mark), `${url} echoes`);
  }
});

for (const { name, versions } of SERVICES) {
  test.runIf(versions.length > 1)(
    `version 1 of ${name} is deprecated and names its successor`,
    async () => {
      const { headers } = await api.get(`/api/v1/${name}`);

      assert.match(headers.get('deprecation') ?? '', /^@\d+$/);
      assert.match(
        headers.get('link') ?? '',
        new RegExp(`</api/v2/${name}>; rel="successor-version"`),
      );
    },
  );

  test(`the document of ${name} is OpenAPI 3.1 and contains ${versions.join(' and ')}`, async () => {
    const document = await readJson(await api.get(`/docs/${name}/openapi.json`));

    assert.match(document.openapi, /^3\.1\./);
    const paths = Object.keys(document.paths);
    for (const version of versions) {
      assert.ok(
        paths.some((path) => path.startsWith(`/api/${version}/${name}`)),
        `${version} is in ${paths}`,
      );
    }
    const page = await api.get(`/docs/${name}`);
    assert.equal(page.status, 200);
    assert.match(page.headers.get('content-type') ?? '', /^text\/html\b/);
  });
}

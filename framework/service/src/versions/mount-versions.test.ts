import { quiet, request } from '@fw/core/testing';
import { createRouter, notFoundHandler } from 'fw';
import { expect, test } from 'vitest';
import { documents } from '../app/documents.ts';
import { createServiceApp } from '../app/service-app.ts';
import { readConfig } from '../config/read-config.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { clientNameOf, mountVersions, versionVariables } from './mount-versions.ts';

const deprecated = { since: new Date('2026-12-01T00:00:00Z'), successor: '/api/v2/notes' };

/** Two versions of an API; version 1 is deprecated. */
function createNotesApp({ isRemoved = false } = {}) {
  const metrics = createMetrics();
  const app = createServiceApp({ metrics });
  const notes = () =>
    createRouter()
      .get('/', () => ({ data: [] }))
      .get('/:id', (ctx) => ctx.throw(404))
      .post('/', (ctx) => ctx.throw(400));
  const routers = mountVersions(
    app,
    [
      { name: 'v2', path: '/api/v2/notes', router: notes() },
      { name: 'v1', path: '/api/v1/notes', router: notes(), deprecated, isRemoved },
    ],
    { metrics, proxyErrors: [502, 504] },
  );
  app.use(
    documents({ name: 'notes', title: 'Notes', version: '1.0.0', description: 'Notes.', routers }),
  );
  app.use(notFoundHandler());
  return { app, metrics };
}

const V1_REQUESTS = [
  ['GET', '/api/v1/notes', 200],
  ['OPTIONS', '/api/v1/notes', 200],
  ['GET', '/API/V1/Notes/', 200],
  ['POST', '/api/v1/notes', 400],
  ['GET', '/api/v1/notes/7/8', 404],
  ['DELETE', '/api/v1/notes', 405],
] as const;

test.each(V1_REQUESTS)(
  '%s %s of a deprecated version has Deprecation and Link (%i)',
  async (method, path, status) => {
    const { app } = createNotesApp();

    const response = await request(app, path, { method });

    expect(response.status).toBe(status);
    expect(response.headers.get('deprecation')).toBe('@1796083200');
    expect(response.headers.get('link')).toMatch(
      /^<\/api\/v2\/notes[^>]*>; rel="successor-version"$/,
    );
    expect(response.headers.get('sunset')).toBeNull();
  },
);

test('a request of a deprecated version that times out has Deprecation', async () => {
  const app = createServiceApp({ requestTimeoutMs: 1, logger: quiet });
  const router = createRouter().get('/', () => new Promise(() => {}));
  mountVersions(app, [{ name: 'v1', path: '/api/v1/notes', router, deprecated }]);

  const response = await request(app, '/api/v1/notes');

  expect(response.status).toBe(503);
  expect(response.headers.get('deprecation')).toBe('@1796083200');
});

test('the document marks the operations of a deprecated version, and describes its headers', async () => {
  const { app } = createNotesApp();

  const { paths } = (await (await request(app, '/openapi.json')).json()) as {
    paths: Record<string, { get: { deprecated?: boolean; responses: object } }>;
  };

  const headers = { Deprecation: expect.anything(), Link: expect.anything() };
  expect(paths['/api/v1/notes']?.get).toMatchObject({
    deprecated: true,
    responses: { '2XX': { headers } },
  });
  expect(paths['/api/v2/notes']?.get).not.toHaveProperty('deprecated');
});

test('every operation of the document has the errors of a proxy', async () => {
  const { app } = createNotesApp();

  const { paths } = (await (await request(app, '/openapi.json')).json()) as {
    paths: Record<string, Record<string, { responses: object }>>;
  };

  const operations = Object.values(paths).flatMap(Object.values);
  expect(operations).toHaveLength(6);
  for (const { responses } of operations)
    expect(Object.keys(responses)).toEqual(expect.arrayContaining(['502', '504']));
});

test.each(V1_REQUESTS)('%s %s of a removed version gets 410', async (method, path) => {
  const { app } = createNotesApp({ isRemoved: true });

  const response = await request(app, path, { method });

  expect(response.headers.get('link')).toContain('/api/v2/notes');
  expect(await response.json()).toMatchObject({
    status: 410,
    code: 'GONE',
    detail: 'Version v1 of this API was removed: use /api/v2/notes',
  });
});

test('a removed version is not in the document, and the current version is served', async () => {
  const { app } = createNotesApp({ isRemoved: true });

  const document = (await (await request(app, '/openapi.json')).json()) as { paths: object };
  const current = await request(app, '/api/v2/notes');

  expect(Object.keys(document.paths)).toEqual(['/api/v2/notes', '/api/v2/notes/{id}']);
  expect(current.status).toBe(200);
  expect(current.headers.get('deprecation')).toBeNull();
});

test.each([false, true])(
  'requests are counted by version and client (removed: %s)',
  async (isRemoved) => {
    const { app, metrics } = createNotesApp({ isRemoved });

    for (const path of ['/api/v1/notes', '/api/v1/notes/7', '/api/v2/notes', '/nowhere']) {
      await request(app, path, { headers: { 'User-Agent': 'curl/8.5.0' } });
    }

    const text = await metrics.register.getSingleMetricAsString('api_requests_total');
    expect(
      text
        .split('\n')
        .filter((line) => !line.startsWith('#'))
        .sort(),
    ).toEqual([
      'api_requests_total{version="v1",path="/api/v1/notes",client="curl"} 2',
      'api_requests_total{version="v2",path="/api/v2/notes",client="curl"} 1',
    ]);
  },
);

function nameOf(headers: Readonly<Record<string, string>>): string {
  return clientNameOf({ get: (name: string) => headers[name.toLowerCase()] });
}

test.each([
  ['curl/8.5.0', 'curl'],
  ['fw-reports', 'fw-reports'],
  ['Mozilla/5.0 (X11; Linux x86_64) Firefox/150.0', 'Mozilla'],
  ['', 'none'],
  ['"quoted"/1', 'none'],
  ['(comment only)', 'none'],
  ['ünïcode/1', 'none'],
  [`${'x'.repeat(65)}/1`, 'none'],
])('the client with User-Agent %j is %s', (userAgent, name) => {
  expect(nameOf({ 'user-agent': userAgent })).toBe(name);
});

test.each([
  ['billing', 'billing'],
  ['billing-2.eu_west', 'billing-2.eu_west'],
  ['two words', 'curl'],
  ['a\nb', 'curl'],
  ['x'.repeat(65), 'curl'],
  ['', 'curl'],
])('the client with X-Client-Id %j is %s', (id, name) => {
  expect(nameOf({ 'x-client-id': id, 'user-agent': 'curl/8.5.0' })).toBe(name);
});

test('a client without both headers is none', () => {
  expect(nameOf({})).toBe('none');
});

test.each([
  ['V1_SUNSET', '2026-11-30', 'must not be before 2026-12-01, got "2026-11-30"'],
  ['V1_SUNSET', '2026-02-30', 'must be a day such as 2027-12-31, got "2026-02-30"'],
  ['WITHOUT_VERSION', 'v3', 'must be one of v1, got "v3"'],
])('%s=%s is rejected in one line', (name, value, message) => {
  const read = () => readConfig(versionVariables('2026-12-01'), { [name]: value });

  expect(read).toThrow(new Error(`${name} ${message}`));
});

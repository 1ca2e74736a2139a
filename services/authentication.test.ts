import { quiet, request } from '@fw/core/testing';
import { bearerToken } from '@fw/middleware/bearer-token';
import { memoryStore } from '@fw/middleware/idempotency';
import { readProblem } from '@fw/service/testing';
import { limitInvalidTokens } from '@fw/service/tokens';
import type { Application, Middleware, Router } from 'fw';
import { expect, test } from 'vitest';

import {
  AUDIENCE,
  claimsOf,
  forge,
  ISSUER,
  SECRET,
} from '../framework/middleware/src/testing/tokens.ts';
import { createCatalogApp } from './catalog/src/app.ts';
import * as catalog1 from './catalog/src/v1.ts';
import * as catalog2 from './catalog/src/v2.ts';
import { SERVICE_NAMES } from './services.ts';
import { createUsersApp } from './users/src/app.ts';
import * as users1 from './users/src/v1.ts';
import * as users2 from './users/src/v2.ts';

/** A store without its methods: a request that reaches the store gets 500. */
const store = { idempotency: memoryStore() } as never;

/** The services that need tokens only with `AUTH=required`. */
const CREATE: Readonly<Record<string, (authenticate?: Middleware) => Application>> = {
  users: (authenticate) => createUsersApp({ authenticate, store, bodyLimit: 1_000, logger: quiet }),
  catalog: (authenticate) => createCatalogApp({ authenticate, store, logger: quiet }),
};

/** The routers of both versions. */
const origins = { newId: () => '', now: () => new Date(), bodyLimit: 1_000 };
const ROUTERS: Readonly<Record<string, readonly [prefix: string, router: Router][]>> = {
  users: [
    [users2.V2, users2.createUserRoutesV2(store, origins)],
    [users1.V1, users1.createUserRoutesV1(store, origins)],
  ],
  catalog: [
    [catalog2.V2, catalog2.createCatalogRoutesV2(store)],
    [catalog1.V1, catalog1.createCatalogRoutesV1(store)],
  ],
};

/** The only routes that need no token: they have numbers, and no person or item. */
const OPEN = ['GET /api/v2/users/figures', 'GET /api/v2/catalog/figures'];

/** Each service with `AUTH=required`. */
function createProtected(name: string, { perMinute = 1_000 } = {}): Application {
  const authenticate = bearerToken({
    ...{ secret: SECRET, issuer: ISSUER, audience: AUDIENCE },
    failureLimiter: limitInvalidTokens({ name, perMinute }),
  });
  return CREATE[name]!(authenticate);
}

/** Every route of both versions, also those that the document omits. */
function routesOf(name: string): readonly string[] {
  const versions = ROUTERS[name]!.flatMap(([prefix, router]) =>
    router
      .getRoutes()
      .map(({ method, path }) => `${method} ${path === '/' ? prefix : prefix + path}`),
  );
  const others = CREATE[name]!().getRoutes();
  return [...versions, ...others.map(({ method, path }) => `${method} ${path}`)];
}

/** Every route, and the tools for agents. */
const ROUTES = Object.keys(CREATE).flatMap((name) =>
  [...routesOf(name), `POST /api/v2/${name}/mcp`].map((route) => ({ name, route })),
);
const PROTECTED = ROUTES.filter(({ route }) => !OPEN.includes(route));

/** Sends a request to the route; its body is no JSON, so that no route changes anything. */
function send(app: Application, route: string, token?: string): Promise<Response> {
  const [method = '', path = ''] = route.split(' ');
  const headers = {
    'Content-Type': 'application/json',
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  };
  const url = path.replace(':id', '0c8f6d5a-9d0c-4c5b-8d6e-3b3f0a6f3b1e');
  const hasBody = method !== 'GET' && method !== 'HEAD';
  return request(app, url, { method, headers, ...(hasBody && { body: '{' }) });
}

const VALID = forge({ alg: 'HS256' }, claimsOf());

test('every service that declares AUTH is tested here', async () => {
  const declared = [];
  for (const name of SERVICE_NAMES) {
    const { VARIABLES } = await import(`./${name}/src/config.ts`);
    if ('AUTH' in VARIABLES) declared.push(name);
  }

  expect(declared).toEqual(Object.keys(CREATE));
});

test.each(PROTECTED)('$route needs a token', async ({ name, route }) => {
  const app = createProtected(name);
  const expired = forge({ alg: 'HS256' }, claimsOf({ exp: 1 }));
  const foreign = forge({ alg: 'HS256' }, claimsOf({ aud: 'another service' }));

  for (const token of [undefined, 'eve-token', expired, foreign]) {
    const response = await send(app, route, token);
    expect(response.headers.get('www-authenticate')).toMatch(/^Bearer\b/);
    await readProblem(response, 401, 'UNAUTHORIZED');
  }
  expect((await send(app, route, VALID)).status).not.toBe(401);
  if (route.startsWith('GET ')) {
    expect((await send(app, route.replace('GET', 'HEAD'))).status).toBe(401);
  }
});

test.each(ROUTES.filter(({ route }) => OPEN.includes(route)))(
  '$route needs no token',
  async ({ name, route }) => {
    expect((await send(createProtected(name), route)).status).not.toBe(401);
  },
);

test.each(ROUTES)('$route needs no token without AUTH', async ({ name, route }) => {
  const app = CREATE[name]!();

  expect((await send(app, route)).status).not.toBe(401);
});

test.each(Object.keys(CREATE))('the documents of %s need no token', async (name) => {
  const app = createProtected(name);

  for (const path of ['/openapi.json', '/docs', `/docs/${name}`, `/docs/${name}/openapi.json`]) {
    expect((await request(app, path)).status, path).toBe(200);
  }
});

interface Operation {
  readonly security?: unknown;
  readonly responses: Readonly<Record<string, unknown>>;
}

/** The operations of the document, by method and path of the route. */
async function operationsOf(app: Application): Promise<Readonly<Record<string, Operation>>> {
  const { paths } = (await (await request(app, '/openapi.json')).json()) as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  };
  return Object.fromEntries(
    Object.entries(paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, operation]) => [
        `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
        operation,
      ]),
    ),
  );
}

test.each(Object.keys(CREATE))(
  'the document of %s has security, 401 and 429 for exactly the protected routes',
  async (name) => {
    const operations = await operationsOf(createProtected(name));

    expect(Object.keys(operations).toSorted()).toEqual(routesOf(name).toSorted());
    for (const [route, { security, responses }] of Object.entries(operations)) {
      const isOpen = OPEN.includes(route);
      expect(security, route).toEqual(isOpen ? undefined : [{ bearer: [] }]);
      expect('401' in responses, route).toBe(!isOpen);
      expect('429' in responses, route).toBe(!isOpen);
    }
  },
);

test.each(Object.keys(CREATE))(
  'a client address with too many invalid tokens at any route of %s gets 429 at all of them',
  async (name) => {
    const app = createProtected(name, { perMinute: 2 });
    const routes = PROTECTED.filter((each) => each.name === name).map(({ route }) => route);

    const first = [await send(app, routes[0]!, 'eve-token'), await send(app, routes[1]!, 'eve')];
    const rest = await Promise.all(routes.map((route) => send(app, route, VALID)));

    expect(first.map(({ status }) => status)).toEqual([401, 401]);
    expect(new Set(rest.map(({ status }) => status))).toEqual(new Set([429]));
  },
);

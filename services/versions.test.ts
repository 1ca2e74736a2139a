import { quiet, request } from '@fw/core/testing';
import { memoryStore } from '@fw/middleware/idempotency';
import type { VersionConfig } from '@fw/service';
import type { Application, Middleware } from 'fw';
import { expect, test } from 'vitest';

import { SERVICES } from './services.ts';

/** For requests that need no store, token or other service. */
const UNUSED = {} as never;
const pass: Middleware = (_ctx, next) => next();

/** The services whose version 1 has a successor. */
const NAMES = SERVICES.filter(({ versions }) => versions.length > 1).map(({ name }) => name);

/** Calls `createUsersApp` of users, and so on. */
async function appOf(name: string, versionConfig: VersionConfig = {}): Promise<Application> {
  const module = await import(`./${name}/src/app.ts`);
  const create = module[`create${name[0]?.toUpperCase()}${name.slice(1)}App`];
  const ofUsers = { store: { idempotency: memoryStore() }, bodyLimit: 1 };
  const limits = { v1: pass, v2: pass, invalidTokens: pass };
  const tokens = { secret: 'x'.repeat(32), issuer: 'login', audience: 'reports' };
  const ofReports = { tokens, readFigures: UNUSED, limits };
  return create({ ...ofUsers, ...ofReports, logger: quiet, versionConfig });
}

test.each(NAMES)('version 1 of %s announces its successor, and no end', async (name) => {
  const { status, headers } = await request(await appOf(name), `/api/v1/${name}/1/2`);

  expect(status).toBe(404);
  expect(headers.get('deprecation')).toBe('@1796083200');
  expect(headers.get('link')).toBe(`</api/v2/${name}/1/2>; rel="successor-version"`);
  expect(headers.get('sunset')).toBeNull();
});

test.each(NAMES)('version 1 of %s announces its end with V1_SUNSET', async (name) => {
  const app = await appOf(name, { V1_SUNSET: '2027-12-31' });

  const { headers } = await request(app, `/api/v1/${name}/1/2`);

  expect(headers.get('sunset')).toBe('Fri, 31 Dec 2027 00:00:00 GMT');
});

test.each(NAMES)(
  '%s without version 1 responds with 410, and documents version 2',
  async (name) => {
    const app = await appOf(name, { WITHOUT_VERSION: 'v1' });

    const removed = await request(app, `/api/v1/${name}`);
    const { paths } = (await (await request(app, '/openapi.json')).json()) as { paths: object };

    expect(removed.status).toBe(410);
    expect(removed.headers.get('link')).toBe(`</api/v2/${name}>; rel="successor-version"`);
    expect(Object.keys(paths).filter((path) => !path.startsWith('/api/v2/'))).toEqual([]);
  },
);

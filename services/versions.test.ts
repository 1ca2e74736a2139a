import { request } from '@fw/core/testing';
import { readConfig } from '@fw/service';
import type { Application } from 'fw';
import { expect, test } from 'vitest';

import { createCatalogApp } from './catalog/src/app.ts';
import { createReportsApp } from './reports/src/app.ts';
import { createUsersApp } from './users/src/app.ts';
import { VERSION_VARIABLES, type VersionConfig } from './versions.ts';

const logger = { info() {}, warn() {}, error() {} };
/** For requests that need no store, token or other service. */
const UNUSED = {} as never;

const CREATE: Readonly<Record<string, (versionConfig: VersionConfig) => Application>> = {
  users: (versionConfig) => createUsersApp({ store: UNUSED, logger, versionConfig }),
  catalog: (versionConfig) => createCatalogApp({ store: UNUSED, logger, versionConfig }),
  reports: (versionConfig) =>
    createReportsApp({ verify: UNUSED, readStatistics: UNUSED, logger, versionConfig }),
};

function appOf(name: string, versionConfig: VersionConfig = {}): Application {
  return CREATE[name]?.(versionConfig) as Application;
}

const ALL = Object.keys(CREATE);

test.each(ALL)('version 1 of %s announces its successor, and no end', async (name) => {
  const { status, headers } = await request(appOf(name), `/api/v1/${name}/1/2`);

  expect(status).toBe(404);
  expect(headers.get('deprecation')).toBe('@1796083200');
  expect(headers.get('link')).toBe(`</api/v2/${name}/1/2>; rel="successor-version"`);
  expect(headers.get('sunset')).toBeNull();
});

test.each(ALL)('version 1 of %s announces its end with V1_SUNSET', async (name) => {
  const app = appOf(name, { V1_SUNSET: '2027-12-31' });

  const { headers } = await request(app, `/api/v1/${name}/1/2`);

  expect(headers.get('sunset')).toBe('Fri, 31 Dec 2027 00:00:00 GMT');
});

test.each(ALL)('%s without version 1 responds with 410, and documents version 2', async (name) => {
  const app = appOf(name, { WITHOUT_VERSION: 'v1' });

  const removed = await request(app, `/api/v1/${name}`);
  const { paths } = (await (await request(app, '/openapi.json')).json()) as { paths: object };

  expect(removed.status).toBe(410);
  expect(removed.headers.get('link')).toBe(`</api/v2/${name}>; rel="successor-version"`);
  expect(Object.keys(paths).filter((path) => !path.startsWith('/api/v2/'))).toEqual([]);
});

test.each([
  ['V1_SUNSET', '2026-11-30', 'must not be before 2026-12-01, got "2026-11-30"'],
  ['V1_SUNSET', '2027-02-30', 'must be a day such as 2027-12-31, got "2027-02-30"'],
  ['V1_SUNSET', '2026-02-30', 'must be a day such as 2027-12-31, got "2026-02-30"'],
  ['V1_SUNSET', 'tomorrow', 'must be a day such as 2027-12-31, got "tomorrow"'],
  ['WITHOUT_VERSION', 'v3', 'must be one of v1, got "v3"'],
  ['WITHOUT_VERSION', 'v1,v2', 'must be one of v1, got "v1,v2"'],
])('%s=%s is rejected in one line', (name, value, message) => {
  const read = () => readConfig(VERSION_VARIABLES, { [name]: value });

  expect(read).toThrow(new Error(`${name} ${message}`));
});

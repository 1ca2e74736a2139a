import { join } from 'node:path';
import { quiet } from '@fw/core/testing';

import {
  expectDocument,
  lintFile,
  requestEverything,
  withoutCacheControl,
} from '@fw/service/testing';
import { expect, onTestFinished, test } from 'vitest';

import { createUsersApp } from './app.ts';
import { BODY_LIMIT } from './config.ts';
import { openSqliteUserStore } from './store/sqlite.ts';

const VERSIONS = ['v1', 'v2'];

function fileOf(version: string): string {
  return join(import.meta.dirname, `../openapi/${version}.json`);
}

function newApp() {
  const store = openSqliteUserStore(':memory:');
  onTestFinished(() => store.close().catch(() => {}));
  const logger = quiet;
  return { store, app: createUsersApp({ store, bodyLimit: BODY_LIMIT, logger }) };
}

test.each(VERSIONS)('openapi/%s.json is current', async (version) => {
  await expectDocument(newApp().app, { version, file: fileOf(version) });
});

test.each(VERSIONS)('redocly lint reports nothing in openapi/%s.json', async (version) => {
  expect(await lintFile(fileOf(version))).toEqual([]);
});

test('every response has Cache-Control, with and without a store', async () => {
  const { store, app } = newApp();

  const responses = await requestEverything(app);
  await store.close();
  const failures = await requestEverything(app);

  expect(withoutCacheControl(responses)).toEqual([]);
  expect(withoutCacheControl(failures)).toEqual([]);
});

import { join } from 'node:path';

import { expectDocument, lintFile } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { createTestApi } from './testing.ts';

const VERSIONS = ['v1', 'v2'];

function fileOf(version: string): string {
  return join(import.meta.dirname, `../openapi/${version}.json`);
}

test.each(VERSIONS)('openapi/%s.json is current', async (version) => {
  await expectDocument(await createTestApi([]), { version, file: fileOf(version) });
});

test.each(VERSIONS)('redocly lint reports nothing in openapi/%s.json', async (version) => {
  expect(await lintFile(fileOf(version))).toEqual([]);
});

import { join } from 'node:path';

import { request } from '@fw/core/testing';
import { expectDocument, lintFile } from '@fw/service/testing';
import { expect, test } from 'vitest';
import * as z from 'zod';

import { createTestApi } from './testing.ts';

const CATALOG = '/api/v2/catalog';
const VERSIONS = ['v1', 'v2'];

function fileOf(version: string): string {
  return join(import.meta.dirname, `../openapi/${version}.json`);
}

const Document = z.object({
  paths: z.record(
    z.string(),
    z.object({
      get: z.object({
        parameters: z.array(z.object({ name: z.string() })).optional(),
        responses: z.record(z.string(), z.unknown()),
      }),
    }),
  ),
});

test.each(['/openapi.json', '/docs/catalog/openapi.json'])(
  '%s describes both versions',
  async (path) => {
    const response = await request(await createTestApi([]), path);

    const { paths } = Document.parse(await response.json());
    expect(Object.keys(paths)).toEqual([
      CATALOG,
      `${CATALOG}/facets`,
      `${CATALOG}/figures`,
      `${CATALOG}/{id}`,
      '/api/v1/catalog',
    ]);
    const list = paths[CATALOG]?.get;
    expect(list?.parameters?.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['q', 'sort', 'limit', 'cursor', 'if-none-match']),
    );
    expect(Object.keys(list?.responses ?? {})).toEqual(
      expect.arrayContaining(['200', '304', '400', '406', '503']),
    );
  },
);

test.each(VERSIONS)('openapi/%s.json is current', async (version) => {
  await expectDocument(await createTestApi([]), { version, file: fileOf(version) });
});

test.each(VERSIONS)('redocly lint reports nothing in openapi/%s.json', async (version) => {
  expect(await lintFile(fileOf(version))).toEqual([]);
});

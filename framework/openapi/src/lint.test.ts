import { lintDocument } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { createExampleApp } from './testing/example-app.ts';

const HOSTILE = '</script><script>alert(1)</script> "\\\' {{y}} \u2028';

test.each(['3.1', '3.2'] as const)(
  'redocly lint finds nothing in an OpenAPI %s document of prefixes, groups and mounts',
  async (openapi) => {
    expect(await lintDocument(createExampleApp({ openapi }))).toEqual([]);
  },
);

test('redocly lint finds no error in a document of hostile texts', async () => {
  const info = { title: HOSTILE, version: HOSTILE, description: HOSTILE };

  const problems = await lintDocument(createExampleApp({ info }));

  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
});

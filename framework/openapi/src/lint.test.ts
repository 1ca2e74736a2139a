import { lintDocument } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { createExampleApp } from './testing/example-app.ts';

const HOSTILE = '</script><script>alert(1)</script> "\\\' {{y}} \u2028';

test('redocly lint finds nothing in a document of prefixes, groups and mounts', async () => {
  expect(await lintDocument(createExampleApp())).toEqual([]);
});

test('redocly lint finds no error in a document of hostile texts', async () => {
  const info = { title: HOSTILE, version: HOSTILE, description: HOSTILE };

  const problems = await lintDocument(createExampleApp({ info }));

  expect(problems.filter(({ severity }) => severity === 'error')).toEqual([]);
});

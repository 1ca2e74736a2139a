import { readFileSync } from 'node:fs';

import { expect, test } from 'vitest';

import { PHRASES } from './renamed-code.ts';

const STORE = new URL('../../services/users/src/store/', import.meta.url);
const CODE = ['postgres-statements.ts', 'batch.ts']
  .map((file) => readFileSync(new URL(file, STORE), 'utf8'))
  .join('\n');

test.each(PHRASES)('the statements of users contain "%s"', (phrase) => {
  expect(CODE).toContain(phrase);
});

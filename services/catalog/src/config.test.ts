import { readFileSync } from 'node:fs';

import { readmeTableOf } from '@fw/service/testing';
import { expect, test } from 'vitest';

import { VARIABLES } from './config.ts';

test('the README lists every variable', () => {
  const readme = readFileSync(new URL('../README.md', import.meta.url), 'utf8');

  expect(readme).toContain(readmeTableOf(VARIABLES));
});

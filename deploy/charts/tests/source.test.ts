import { integer } from '@fw/service';
import { expect, test } from 'vitest';

import { withVariables } from '../source.ts';

const VARIABLES = { LIMIT: integer(0, 9).default(3).meta({ description: 'most requests' }) };

test('a listed variable keeps its description and has the default of the service', () => {
  const source = withVariables('config:\n  # -- Requests per second.\n  LIMIT:\n', VARIABLES);

  expect(source).toMatch(
    /^config:\n {2}# -- Requests per second\.\n {2}# @schema .*\n {2}LIMIT: 3\n$/,
  );
});

test.each([
  ['the first one', 'config:\n  LIMIT: 5\n'],
  ['a later one', 'config:\n  # -- Address to listen on.\n  HOST: 0.0.0.0\n  LIMIT: 5\n'],
  ['one with another comment', 'config:\n  # Requests per second.\n  LIMIT: 5\n'],
])('a listed variable without a description is an error: %s', (_, source) => {
  expect(() => withVariables(source, VARIABLES)).toThrow(
    'Cannot read config.LIMIT: expected "# -- text" in the line above it',
  );
});

import { expect, test } from 'vitest';

import { printVariables } from './print-variables.ts';
import { serviceVariables, storeVariables } from './service-variables.ts';
import { text } from './variable.ts';

const ALL = { ...serviceVariables({ port: 8081 }), ...storeVariables({ file: '.local/users.db' }) };

test('the table of a service fits into a terminal of 100 columns', () => {
  const lines = printVariables(ALL).trimEnd().split('\n');

  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  expect(lines.length).toBeGreaterThan(Object.keys(ALL).length); // one is the head
});

test('a long meaning goes on below itself', () => {
  const variables = { NAME: text({ fallback: 'ada', meaning: 'word '.repeat(30).trim() }) };

  expect(printVariables(variables)).toBe(`VARIABLE  DEFAULT  MEANING
NAME      ada      ${'word '.repeat(16).trim()}
                   ${'word '.repeat(14).trim()}
`);
});

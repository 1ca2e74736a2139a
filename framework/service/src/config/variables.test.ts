import { expect, test } from 'vitest';
import * as z from 'zod';

import { describeVariables, integer, readInteger, url } from './variables.ts';

test.each([
  ['0', 0],
  ['7', 7],
  ['-7', -7],
  ['9007199254740991', Number.MAX_SAFE_INTEGER],
  ['-9007199254740991', Number.MIN_SAFE_INTEGER],
])('readInteger reads %j', (text, value) => {
  expect(readInteger(text)).toBe(value);
});

test.each([
  '',
  ' ',
  '-',
  '-0',
  '+1',
  ' 1',
  '1 ',
  '1\n',
  '007',
  '0x10',
  '0b1',
  '1e3',
  '1.0',
  '1_000',
  '1,000',
  '１',
  'NaN',
  'Infinity',
  '9007199254740992',
  '9'.repeat(400),
])('readInteger returns undefined for %j', (text) => {
  expect(readInteger(text)).toBeUndefined();
});

test('describeVariables reads default, unit, meaning and secrecy from the schemas', () => {
  const variables = {
    WAIT_MS: integer(0, 9).default(5).meta({ description: 'how long it waits', unit: 'ms' }),
    FILE: z.string().default('/srv/a.db').meta({ description: 'database', default: 'a.db' }),
    PEER: url('http').optional().meta({ description: 'another service' }),
    KEY: z.string().optional().meta({ description: 'private key', secret: true }),
  };

  expect(describeVariables(variables)).toEqual([
    { name: 'WAIT_MS', default: '5', unit: 'ms', meaning: 'how long it waits', secret: false },
    { name: 'FILE', default: 'a.db', meaning: 'database', secret: false },
    { name: 'PEER', meaning: 'another service', secret: false },
    { name: 'KEY', meaning: 'private key', secret: true },
  ]);
});

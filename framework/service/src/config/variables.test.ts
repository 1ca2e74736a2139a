import { expect, test } from 'vitest';
import * as z from 'zod';

import { address, day, describeVariables, integer, oneOf, readInteger, url } from './variables.ts';

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
    TAGS: z.custom<string>(),
  };

  expect(describeVariables(variables)).toEqual([
    { name: 'WAIT_MS', default: '5', unit: 'ms', meaning: 'how long it waits', secret: false },
    { name: 'FILE', default: 'a.db', meaning: 'database', secret: false },
    { name: 'PEER', meaning: 'another service', secret: false },
    { name: 'KEY', meaning: 'private key', secret: true },
    { name: 'TAGS', meaning: '', secret: false },
  ]);
});

test.each<readonly [string, z.ZodType, readonly string[], readonly string[], string]>([
  ['day', day(), ['2027-12-31'], ['2027-02-30', '31.12.2027'], 'must be a day such as 2027-12-31'],
  [
    'address',
    address(),
    ['127.0.0.1', '::', 'localhost'],
    ['host', ''],
    'must be an IP address or localhost',
  ],
  ['oneOf', oneOf(['a', 'b']), ['a', 'b'], ['c', ''], 'must be one of a, b'],
  [
    'url',
    url('http', 'https'),
    ['http://a', 'https://a'],
    ['ftp://a', 'httphttps://a'],
    'must be a URL that begins with http:// or https://',
  ],
])('%s() accepts only its values, with one message', (_, schema, valid, invalid, message) => {
  for (const text of valid) expect(schema.parse(text)).toBe(text);
  for (const text of invalid) {
    expect(schema.safeParse(text).error?.issues.map((issue) => issue.message)).toEqual([message]);
  }
});

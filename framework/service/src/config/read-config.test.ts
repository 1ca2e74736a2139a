import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test, vi } from 'vitest';
import * as z from 'zod';

import { newFolder } from '../testing/vitest.ts';
import { readConfig, suspectNames } from './read-config.ts';
import { serviceVariables, storeVariables } from './service-variables.ts';
import { integer, url } from './variables.ts';

function fileOf(content: string): string {
  const file = join(newFolder(), 'secret');
  writeFileSync(file, content);
  return file;
}

test('a configuration has numbers as numbers, omits unknown variables, and is frozen', () => {
  const config = readConfig(serviceVariables({ port: 8081 }), {
    HOST: '::',
    PORT: '0',
    TRUST_PROXY: '1',
    NODE_ENV: 'test',
    HOME: '/root',
  });

  expect(config).toMatchObject({ HOST: '::', PORT: 0, TRUST_PROXY: 1, NODE_ENV: 'test' });
  expect(config).not.toHaveProperty('HOME');
  expect(Object.isFrozen(config)).toBe(true);
});

test('readConfig treats an empty variable as not set', () => {
  const variables = {
    PORT: integer(0, 9).default(7),
    FILE: z.string().optional(),
    KEY: z.string().optional().meta({ secret: true }),
  };

  expect(readConfig(variables, { PORT: '', FILE: '', KEY: '', KEY_FILE: '' })).toEqual({ PORT: 7 });
});

test('readConfig names every problem in one message', () => {
  const env = {
    PORT: 'abc',
    HEALTH_PORT: '70000',
    HOST: 'nowhere',
    NODE_ENV: 'staging',
    DATABSE_URL: 'postgres://localhost/users',
    PORT_FILE: '/run/port',
  };
  const variables = { ...serviceVariables({ port: 8081 }), ...storeVariables({ file: 'a.db' }) };

  expect(() => readConfig(variables, env)).toThrow(
    new Error(
      [
        'DATABSE_URL is not known: did you mean DATABASE_URL?',
        'PORT_FILE is not known: PORT is no secret, so set it itself',
        'HOST must be an IP address or localhost, got "nowhere"',
        'PORT must be an integer from 0 to 65535, got "abc"',
        'HEALTH_PORT must be an integer from 0 to 65535, got "70000"',
        'NODE_ENV must be one of production, development, test, got "staging"',
      ].join('; '),
    ),
  );
});

test('readConfig rejects every unknown name that CONFIG_NAMES lists', () => {
  const env = { CONFIG_NAMES: 'PORT LOG_LEVLE RATE_LIMIT', PORT: '1', LOG_LEVLE: 'debug' };

  expect(() => readConfig(serviceVariables({ port: 8081 }), env)).toThrow(
    new Error(
      'LOG_LEVLE is not known: did you mean LOG_LEVEL?; RATE_LIMIT is not a variable of this service',
    ),
  );
});

test('readConfig prints a long value with line breaks as one short line', () => {
  const variables = { LEVEL: integer(1, 9).default(1) };

  expect(() => readConfig(variables, { LEVEL: `a\nb${'c'.repeat(500)}` })).toThrow(
    new Error(`LEVEL must be an integer from 1 to 9, got "a\\nb${'c'.repeat(57)}…"`),
  );
});

test.each<readonly [z.ZodType, string | undefined, string]>([
  [z.string(), undefined, 'A is missing: expected a value of the type string'],
  [z.string('must have 8 bytes'), undefined, 'A is missing: it must have 8 bytes'],
  [url('https'), undefined, 'A is missing: expected a URL that begins with https://'],
  [z.enum(['a', 'b']), undefined, 'A is missing: expected one of a, b'],
  [z.enum(['a', 'b']), 'c', 'A must be one of a, b, got "c"'],
  [z.coerce.number(), 'x', 'A must be a value of the type number, got "x"'],
  [
    z.string().max(1),
    'ab',
    'A must be a value that its schema accepts (Too big: expected string to have <=1 characters), got "ab"',
  ],
  [z.string().max(1, 'is long'), 'a'.repeat(60), `A is long, got "${'a'.repeat(60)}"`],
  [z.url('must be a URL'), 'nowhere', 'A must be a URL'],
  [url('http'), 'ftp://ada:secret@host', 'A must be a URL that begins with http://'],
])('readConfig describes what %o expects instead of %j', (schema, value, message) => {
  expect(() => readConfig({ A: schema }, { A: value })).toThrow(new Error(message));
});

test.each(['PROT', 'OPRT', 'HSOT'])('%s is probably a misspelled variable', (name) => {
  const warnings = suspectNames(serviceVariables({ port: 1 }), { [name]: '1' });

  expect(warnings).toEqual([
    `${name} is not a variable of this service: did you mean ${name.includes('P') ? 'PORT' : 'HOST'}?`,
  ]);
});

test('names of other programs are neither suspected nor rejected', () => {
  const names =
    'POST PORTS SPORT PORTO TROP HOSTS GHOST HOME PATH TERM PWD TZ LS_COLORS _ HOSTNAME NODE_OPTIONS USERS_PORT DATABASE_NAME OTEL_METRICS_EXPORTER LOGNAME no_proxy';
  const env = Object.fromEntries(names.split(' ').map((name) => [name, '1']));
  const variables = { ...serviceVariables({ port: 1 }), ...storeVariables({ file: 'a.db' }) };

  expect(readConfig(variables, env)).toMatchObject({ PORT: 1 });
  expect(suspectNames(variables, { ...env, PORT: '1', HOST: '::' })).toEqual([]);
  expect(suspectNames(variables, { PROT: '' })).toEqual([]);
  expect(suspectNames({ LEVELS: integer(0, 9) }, { LEVLES: '1' })).toEqual([]);
});

test('readConfig applies the rule once every variable is valid', () => {
  const variables = { LOW: integer(0, 9).default(1) };
  const rule = ({ LOW }: { LOW: number }) => (LOW > 5 ? ['LOW is high'] : []);

  expect(readConfig(variables, { LOW: '5' }, rule)).toEqual({ LOW: 5 });
  expect(() => readConfig(variables, { LOW: '6' }, rule)).toThrow(new Error('LOW is high'));
  expect(() => readConfig(variables, { LOW: 'x' }, rule)).toThrow(
    new Error('LOW must be an integer from 0 to 9, got "x"'),
  );
});

describe('a secret', () => {
  const variables = {
    JWT_SECRET: z
      .string()
      .refine((value) => Buffer.byteLength(value) >= 8, 'must have at least 8 bytes')
      .optional()
      .meta({ secret: true }),
  };

  test.each([
    ['without changes', 'sixteen-bytes-ok', 'sixteen-bytes-ok'],
    ['without the line break at its end', 'sixteen-bytes-ok\n', 'sixteen-bytes-ok'],
    ['without that of Windows', 'sixteen-bytes-ok\r\n', 'sixteen-bytes-ok'],
    ['with every other line break', '\nsixteen\nbytes\n\n', '\nsixteen\nbytes\n'],
  ])('is read from a file %s', (_, content, expected) => {
    expect(readConfig(variables, { JWT_SECRET_FILE: fileOf(content) })).toEqual({
      JWT_SECRET: expected,
    });
  });

  test('is not in its error message', () => {
    const expected = new Error('JWT_SECRET must have at least 8 bytes');

    expect(() => readConfig(variables, { JWT_SECRET: 'hushed' })).toThrow(expected);
    expect(() => readConfig(variables, { JWT_SECRET_FILE: fileOf('hushed\n') })).toThrow(expected);
  });

  test('that is a URL is not in its error message', () => {
    const { DATABASE_URL } = storeVariables({ file: 'a.db' });

    expect(() => readConfig({ DATABASE_URL }, { DATABASE_URL: 'mysql://ada:pw@host/a' })).toThrow(
      new Error('DATABASE_URL must be a URL that begins with postgres:// or postgresql://'),
    );
  });

  test('in an unreadable file is an error that names the file', () => {
    expect(() => readConfig(variables, { JWT_SECRET_FILE: '/nowhere/secret' })).toThrow(
      new Error('JWT_SECRET_FILE must name a file that can be read, got "/nowhere/secret": ENOENT'),
    );
  });

  test('that is set twice is an error', () => {
    const env = { JWT_SECRET: 'sixteen-bytes-ok', JWT_SECRET_FILE: fileOf('sixteen-bytes-ok') };

    expect(() => readConfig(variables, env)).toThrow(
      new Error('JWT_SECRET and JWT_SECRET_FILE are both set: expected one of them'),
    );
  });

  test('from a file that changes has its new value a second later', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const file = fileOf('sixteen-bytes-ok\n');
    const config = readConfig(variables, { JWT_SECRET_FILE: file });

    writeFileSync(file, 'sixteen-bytes-too\n');
    const before = config.JWT_SECRET;
    vi.advanceTimersByTime(1_000);

    expect(before).toBe('sixteen-bytes-ok');
    expect(config.JWT_SECRET).toBe('sixteen-bytes-too');
    expect({ ...config }).toEqual({ JWT_SECRET: 'sixteen-bytes-too' });
  });

  test('keeps its last valid value while its file is invalid or missing, with one warning for each', () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    onTestFinished(() => void vi.useRealTimers());
    const file = fileOf('sixteen-bytes-ok');
    const warnings: string[] = [];
    const config = readConfig(
      variables,
      { JWT_SECRET_FILE: file },
      () => [],
      (warning) => warnings.push(warning),
    );
    const readTwice = () =>
      [1, 2].map(() => {
        vi.advanceTimersByTime(1_000);
        return config.JWT_SECRET;
      });

    writeFileSync(file, 'hushed');
    const invalid = readTwice();
    rmSync(file);
    const missing = readTwice();
    writeFileSync(file, 'sixteen-bytes-too');
    const valid = readTwice();
    writeFileSync(file, '');
    readTwice();

    expect([...invalid, ...missing]).toEqual(Array(4).fill('sixteen-bytes-ok'));
    expect(valid[0]).toBe('sixteen-bytes-too');
    expect(warnings).toEqual([
      'JWT_SECRET must have at least 8 bytes; its last valid value is used',
      `JWT_SECRET_FILE must name a file that can be read, got "${file}": ENOENT; its last valid value is used`,
      'JWT_SECRET must have at least 8 bytes; its last valid value is used',
    ]);
  });
});

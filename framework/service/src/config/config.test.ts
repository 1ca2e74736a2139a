import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { describe, expect, onTestFinished, test } from 'vitest';

import { readConfig } from './config.ts';
import { serviceVariables, storeVariables } from './service-variables.ts';
import { integer, oneOf, optionalText, secret, text, url } from './variable.ts';

const meaning = 'nothing';

function fileOf(content: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'secrets-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'secret');
  writeFileSync(file, content);
  return file;
}

test('readConfig fills in the defaults of a service', () => {
  const config = readConfig(serviceVariables({ port: 8081 }), {});

  expect(config).toMatchObject({
    HOST: '127.0.0.1',
    PORT: 8081,
    HEALTH_PORT: 9090,
    DRAIN_DELAY_MS: 1000,
    TRUST_PROXY: 0,
    NODE_ENV: 'production',
  });
  expect(config.OTEL_EXPORTER_OTLP_ENDPOINT).toBeUndefined();
  expect(Object.isFrozen(config)).toBe(true);
});

test('readConfig reads numbers as numbers and leaves out what it does not know', () => {
  const config = readConfig(serviceVariables({ port: 8081 }), {
    HOST: '::',
    PORT: '0',
    TRUST_PROXY: '1',
    NODE_ENV: 'test',
    HOME: '/root',
  });

  expect(config).toMatchObject({ HOST: '::', PORT: 0, TRUST_PROXY: 1, NODE_ENV: 'test' });
  expect(config).not.toHaveProperty('HOME');
});

test('readConfig takes an empty variable for one that is not set', () => {
  const variables = {
    PORT: integer({ from: 0, to: 9, fallback: 7, meaning }),
    FILE: optionalText({ meaning }),
    KEY: secret({ meaning }),
  };

  expect(readConfig(variables, { PORT: '', FILE: '', KEY: '', KEY_FILE: '' })).toEqual({ PORT: 7 });
});

test('readConfig names everything that is wrong in one message', () => {
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

test.each(['-1', '1.5', '1e3', '0x10', ' 80', '+80', '80 ', '99999999999999999999'])(
  'readConfig takes %j for no port',
  (PORT) => {
    expect(() => readConfig(serviceVariables({ port: 1 }), { PORT })).toThrow(
      'PORT must be an integer from 0 to 65535',
    );
  },
);

test('readConfig prints a long value with line breaks as one short line', () => {
  const variables = { LEVEL: integer({ from: 1, to: 9, fallback: 1, meaning }) };

  expect(() => readConfig(variables, { LEVEL: `a\nb${'c'.repeat(500)}` })).toThrow(
    new Error(`LEVEL must be an integer from 1 to 9, got "a\\nb${'c'.repeat(57)}…"`),
  );
});

test('readConfig reads a text, a word and a URL, or their defaults', () => {
  const variables = {
    FILE: text({ fallback: 'a.db', meaning }),
    MODE: oneOf({ words: ['fast', 'safe'], fallback: 'safe', meaning }),
    PEER: url({ fallback: 'http://127.0.0.1:1', protocols: ['http:'], meaning }),
    OTHER: url({ protocols: ['http:'], meaning }),
  };

  expect(readConfig(variables, {})).toEqual({
    FILE: 'a.db',
    MODE: 'safe',
    PEER: 'http://127.0.0.1:1',
  });
  expect(readConfig(variables, { FILE: 'b', MODE: 'fast', PEER: 'http://b', OTHER: 'http://c' })) //
    .toEqual({ FILE: 'b', MODE: 'fast', PEER: 'http://b', OTHER: 'http://c' });
});

test.each(['nowhere', 'ftp://ada:secret@host', '//ada:secret@host'])(
  'readConfig refuses %j where a URL of http is wanted, and does not repeat it',
  (PEER) => {
    const variables = { PEER: url({ protocols: ['http:', 'https:'], meaning }) };

    expect(() => readConfig(variables, { PEER })).toThrow(
      new Error('PEER must be a URL that begins with http:// or https://'),
    );
  },
);

test('readConfig asks a rule about variables that are good each on its own', () => {
  const variables = { LOW: integer({ from: 0, to: 9, fallback: 1, meaning }) };
  const rule = ({ LOW }: { LOW: number }) => (LOW > 5 ? ['LOW is high'] : []);

  expect(readConfig(variables, { LOW: '5' }, rule)).toEqual({ LOW: 5 });
  expect(() => readConfig(variables, { LOW: '6' }, rule)).toThrow(new Error('LOW is high'));
});

describe('a secret', () => {
  const variables = { JWT_SECRET: secret({ leastBytes: 8, meaning }) };

  test.each([
    ['as it is', 'sixteen-bytes-ok', 'sixteen-bytes-ok'],
    ['without the line break at its end', 'sixteen-bytes-ok\n', 'sixteen-bytes-ok'],
    ['without that of Windows', 'sixteen-bytes-ok\r\n', 'sixteen-bytes-ok'],
    ['with every other line break', '\nsixteen\nbytes\n\n', '\nsixteen\nbytes\n'],
  ])('comes from a file %s', (_, content, expected) => {
    expect(readConfig(variables, { JWT_SECRET_FILE: fileOf(content) })).toEqual({
      JWT_SECRET: expected,
    });
  });

  test('is not in the message on it, wherever it came from', () => {
    const complaint = new Error('JWT_SECRET must have at least 8 bytes');

    expect(() => readConfig(variables, { JWT_SECRET: 'hushed' })).toThrow(complaint);
    expect(() => readConfig(variables, { JWT_SECRET_FILE: fileOf('hushed\n') })).toThrow(complaint);
  });

  test('that is a URL is not in the message either', () => {
    const { DATABASE_URL } = storeVariables({ file: 'a.db' });

    expect(() => readConfig({ DATABASE_URL }, { DATABASE_URL: 'mysql://ada:pw@host/a' })).toThrow(
      new Error('DATABASE_URL must be a URL that begins with postgres:// or postgresql://'),
    );
  });

  test('in a file that cannot be read names the file', () => {
    expect(() => readConfig(variables, { JWT_SECRET_FILE: '/nowhere/secret' })).toThrow(
      new Error('JWT_SECRET_FILE must name a file that can be read, got "/nowhere/secret": ENOENT'),
    );
  });

  test('set twice is refused', () => {
    const env = { JWT_SECRET: 'sixteen-bytes-ok', JWT_SECRET_FILE: fileOf('sixteen-bytes-ok') };

    expect(() => readConfig(variables, env)).toThrow(
      new Error('JWT_SECRET and JWT_SECRET_FILE are both set: expected one of them'),
    );
  });
});

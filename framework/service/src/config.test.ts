import { expect, test } from 'vitest';

import { integer, optionalText, readConfig, serviceVariables, text } from './config.ts';

test('readConfig fills in the defaults of a service', () => {
  const config = readConfig(serviceVariables({ port: 8081 }), {});

  expect(config).toEqual({
    HOST: '127.0.0.1',
    PORT: 8081,
    HEALTH_PORT: 9090,
    DRAIN_DELAY_MS: 1000,
    TRUST_PROXY: 0,
    NODE_ENV: 'production',
  });
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
  const shape = { PORT: integer({ from: 0, to: 9, fallback: 7 }), FILE: optionalText() };

  expect(readConfig(shape, { PORT: '', FILE: '' })).toEqual({ PORT: 7 });
});

test('readConfig names every bad variable in one message', () => {
  const env = { PORT: 'abc', HEALTH_PORT: '70000', HOST: 'nowhere', NODE_ENV: 'staging' };

  expect(() => readConfig(serviceVariables({ port: 8081 }), env)).toThrow(
    'HOST must be an IP address or localhost, got "nowhere"; ' +
      'PORT must be an integer from 0 to 65535, got "abc"; ' +
      'HEALTH_PORT must be an integer from 0 to 65535, got "70000"; ' +
      'NODE_ENV must be one of production, development, test, got "staging"',
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
  const shape = { LEVEL: integer({ from: 1, to: 9, fallback: 1 }) };

  expect(() => readConfig(shape, { LEVEL: `a\nb${'c'.repeat(500)}` })).toThrow(
    new Error(`LEVEL must be an integer from 1 to 9, got "a\\nb${'c'.repeat(57)}…"`),
  );
});

test('text falls back to its default', () => {
  expect(readConfig({ FILE: text('a.db') }, {})).toEqual({ FILE: 'a.db' });
  expect(readConfig({ FILE: text('a.db') }, { FILE: 'b.db' })).toEqual({ FILE: 'b.db' });
});

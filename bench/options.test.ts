import { expect, test, vi } from 'vitest';

import { readCount, readNames, readOptions } from './options.ts';

const ROUNDS = { rounds: { type: 'string', default: '5' } } as const;

test('readOptions returns the options of a program and --out', () => {
  expect(readOptions(['--out', 'here'], 'help', ROUNDS)).toMatchObject({
    rounds: '5',
    out: 'here',
  });
});

test('readOptions prints the help for --help and returns undefined', () => {
  const write = vi.spyOn(process.stdout, 'write').mockReturnValueOnce(true);

  const values = readOptions(['--help', '--rounds', '3'], 'The help.', ROUNDS);

  expect(values).toBeUndefined();
  expect(write.mock.calls).toEqual([['The help.']]);
});

test('readOptions names an unknown option', () => {
  expect(() => readOptions(['--round', '3'], 'help', ROUNDS)).toThrow("'--round'");
});

test('readNames keeps the given order, and returns all names by default', () => {
  expect(readNames('hono,fw', ['fw', 'hono', 'koa'])).toEqual(['hono', 'fw']);
  expect(readNames(undefined, ['fw', 'hono'])).toEqual(['fw', 'hono']);
});

test('readNames names an unknown name', () => {
  expect(() => readNames('fw,hapi', ['fw', 'koa'])).toThrow(
    'Cannot find "hapi": expected one of fw, koa',
  );
});

test.each(['0', '-1', '1.5', 'ten', ''])('readCount rejects "%s"', (text) => {
  expect(() => readCount('rounds', text)).toThrow(`Cannot read --rounds "${text}"`);
});

import { expect, test } from 'vitest';

import { readCount, readNames } from './options.ts';

test('readNames keeps the order asked for, and takes all when none is named', () => {
  expect(readNames('hono,fw', ['fw', 'hono', 'koa'])).toEqual(['hono', 'fw']);
  expect(readNames(undefined, ['fw', 'hono'])).toEqual(['fw', 'hono']);
});

test('readNames names what it does not know', () => {
  expect(() => readNames('fw,hapi', ['fw', 'koa'])).toThrow(
    'Cannot find "hapi": expected one of fw, koa',
  );
});

test.each(['0', '-1', '1.5', 'ten', ''])('readCount refuses "%s"', (text) => {
  expect(() => readCount('rounds', text)).toThrow(`Cannot read --rounds "${text}"`);
});

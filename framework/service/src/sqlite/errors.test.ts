import { ServiceUnavailableError } from 'fw';
import { expect, test } from 'vitest';

import { isBusy, orUnavailable, toUnavailable } from './errors.ts';

/** An error as `node:sqlite` throws it. */
function sqliteError(errcode: unknown): Error {
  return Object.assign(new Error('it failed'), { code: 'ERR_SQLITE_ERROR', errcode });
}

test.each([
  [5, 'SQLITE_BUSY'],
  [13, 'SQLITE_FULL'],
  [10 + 3 * 256, 'SQLITE_IOERR'], // SQLITE_IOERR_WRITE
])('the result code %i is a 503 with %s', (code, word) => {
  const cause = sqliteError(code);

  const error = toUnavailable(cause) as ServiceUnavailableError;

  expect(error).toBeInstanceOf(ServiceUnavailableError);
  expect(error.message).toBe(`The database cannot be used: ${word}`);
  expect(error.headers).toEqual({ 'Retry-After': '1' });
  expect(error.cause).toBe(cause);
});

test.each<readonly [string, unknown]>([
  ['a broken constraint', sqliteError(19)],
  ['no result code', new Error('it failed')],
  ['a result code as text', sqliteError('5')],
  ['no error', { errcode: 5 }],
  ['a thrown text', 'it failed'],
])('%s stays the same error', (_, error) => {
  expect(toUnavailable(error)).toBe(error);
  expect(isBusy(error)).toBe(false);
});

test('only SQLITE_BUSY, with any extension, means that another process writes', () => {
  expect([5, 5 + 2 * 256, 6].map((code) => isBusy(sqliteError(code)))).toEqual([true, true, false]);
});

test('orUnavailable returns the result of its work, or throws the converted error', () => {
  const fail = () => {
    throw sqliteError(13);
  };

  expect(orUnavailable(() => 7)).toBe(7);
  expect(() => orUnavailable(fail)).toThrow('The database cannot be used: SQLITE_FULL');
});

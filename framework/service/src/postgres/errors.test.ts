import { ServiceUnavailableError } from 'fw';
import { describe, expect, test } from 'vitest';

import {
  ConnectionLostError,
  isConflict,
  isConnectionLost,
  isFromServer,
  isNoResponse,
  isOutOfConnections,
  isTableMissing,
  isTaken,
  reasonOf,
  toLost,
  toUnavailable,
  unavailable,
} from './errors.ts';

/** An error that the server sent, as the driver throws it. */
function serverError(code: unknown, members: object = {}): Error {
  return Object.assign(new Error('the server says no'), { severity: 'ERROR', code, ...members });
}

const OF_NODE = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });

describe('the SQLSTATE', () => {
  test.each([
    ['08006', 'connection failure', { isLost: true, isUnavailable: true }],
    ['57P01', 'shutdown', { isLost: true, isUnavailable: true }],
    ['57P03', 'starting', { isLost: true, isUnavailable: true }],
    ['53100', 'disk full', { isOut: true, isUnavailable: true }],
    ['53300', 'too many connections', { isOut: true, isUnavailable: true }],
    ['58030', 'I/O error', { isUnavailable: true }],
    ['57014', 'statement time-out', { isUnavailable: true }],
    ['55P03', 'lock time-out', { isUnavailable: true }],
    ['25006', 'read-only replica', { isUnavailable: true }],
    ['40001', 'conflict', { isConflict: true, isUnavailable: true }],
    ['40P01', 'deadlock', { isConflict: true, isUnavailable: true }],
    ['40002', 'broken constraint of a transaction', {}],
    ['23505', 'broken constraint', {}],
    ['42601', 'syntax error', {}],
    ['22008', 'a date that contains 08', {}],
    ['P5301', 'a state that contains 53', {}],
  ])('%s (%s) decides what follows', (code, _, expected) => {
    const error = serverError(code);

    expect({
      isFromServer: isFromServer(error),
      isLost: isConnectionLost(error),
      isOut: isOutOfConnections(error),
      isConflict: isConflict(error),
      isUnavailable: toUnavailable(error) instanceof ServiceUnavailableError,
    }).toEqual({
      isFromServer: true,
      isLost: false,
      isOut: false,
      isConflict: false,
      isUnavailable: false,
      ...expected,
    });
    expect(toLost(error)).toBe(error);
  });

  test.each<readonly [string, unknown]>([
    ['an error of Node', OF_NODE],
    ['a code that is no text', serverError(53)],
    ['no code', Object.assign(new Error('no'), { severity: 'ERROR' })],
    ['no error', { severity: 'ERROR', code: '53300' }],
    ['a thrown text', '53300'],
  ])('is unknown for %s', (_, error) => {
    expect(isFromServer(error)).toBe(false);
    expect(isOutOfConnections(error)).toBe(false);
    expect(isConflict(error)).toBe(false);
    expect(isConnectionLost(error)).toBe(false);
    expect(toUnavailable(error)).toBe(error);
  });
});

test.each<readonly [string, unknown, string]>([
  ['of Node', OF_NODE, 'connect ECONNREFUSED'],
  ['of a statement', new Error('Query read timeout'), 'no response within the time limit'],
  [
    'of the queue',
    new Error('timeout exceeded when trying to connect'),
    'no free connection within the time limit',
  ],
  ['of a connection', new Error('timeout expired'), 'no connection within the time limit'],
  ['that is a text', 'closed', 'closed'],
])('an error %s means that the connection is lost', (_, cause, message) => {
  const lost = toLost(cause) as ConnectionLostError;

  expect(lost).toBeInstanceOf(ConnectionLostError);
  expect(lost).toMatchObject({ message, cause });
  expect(isConnectionLost(lost)).toBe(true);
  expect(toUnavailable(lost)).toMatchObject({ message: `PostgreSQL cannot be used: ${message}` });
});

test.each([
  ['an invalid value', new TypeError('not a date')],
  ['a value out of range', new RangeError('not a date')],
  ['a lost connection', new ConnectionLostError('closed')],
])('the error for %s stays the same', (_, error) => {
  expect(toLost(error)).toBe(error);
});

test('only the message of the driver means that there was no response', () => {
  expect(isNoResponse(new Error('Query read timeout'))).toBe(true);
  expect(isNoResponse(OF_NODE)).toBe(false);
  expect(isNoResponse({ message: 'Query read timeout' })).toBe(false);
});

test.each([
  ['timeout exceeded when trying to connect', true],
  ['no more connections allowed (max_client_conn)', true],
  ['server login failed: no more connections allowed', false],
])('a call that fails with "%s" is out of connections: %s', (message, expected) => {
  expect(isOutOfConnections(new Error(message))).toBe(expected);
  expect(isOutOfConnections({ message })).toBe(false);
});

test.each([
  ['42P01', true],
  ['42703', true],
  ['42601', false],
  ['57P01', false],
])('the SQLSTATE %s means that a table or column is missing: %s', (code, expected) => {
  expect(isTableMissing(serverError(code))).toBe(expected);
});

test('an unavailable server is a 503 with the reason and Retry-After', () => {
  const error = unavailable(OF_NODE);

  expect(error).toBeInstanceOf(ServiceUnavailableError);
  expect(error).toMatchObject({
    message: 'PostgreSQL cannot be used: connect ECONNREFUSED',
    headers: { 'Retry-After': '1' },
    cause: OF_NODE,
  });
});

test.each<readonly [string, unknown, boolean]>([
  ['of the index', serverError('23505', { constraint: 'users_by_email' }), true],
  ['of another index', serverError('23505', { constraint: 'users_pkey' }), false],
  ['of no index', serverError('23505'), false],
  ['of a foreign key', serverError('23503', { constraint: 'users_by_email' }), false],
  ['that is not one', { code: '23505', constraint: 'users_by_email' }, false],
])('a row is taken only by an error %s', (_, error, expected) => {
  expect(isTaken(error, 'users_by_email')).toBe(expected);
});

test('the reason of several addresses has each of their reasons', () => {
  expect(reasonOf(new AggregateError([OF_NODE, new AggregateError(['no route'])]))).toBe(
    'connect ECONNREFUSED, no route',
  );
});

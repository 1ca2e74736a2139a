import { afterEach, expect, test, vi } from 'vitest';

import { describeFailure, ServiceCodeError } from './describe-failure.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

/** An error with the frames of `stack`. */
function errorWith(message: string, frames: readonly string[], cause?: unknown): Error {
  const error = new Error(message, cause === undefined ? {} : { cause });
  error.stack = [`Error: ${message}`, ...frames.map((frame) => `    at ${frame}`)].join('\n');
  return error;
}

const NODE = 'Object.readdir (node:fs/promises:900:18)';
const PACKAGE = 'connect (file:///app/node_modules/pg/lib/client.js:1:2)';
const OWN = 'start (file:///app/src/main.ts:12:34)';

test.each<readonly [string, unknown, string]>([
  ['an error', errorWith('no disk', [OWN]), 'no disk'],
  ['a thrown text', 'no disk', 'no disk'],
  ['a message of several lines', new Error('first \n  second\n\nthird'), 'first second third'],
])('a failure of the framework is one line: %s', (_, error, line) => {
  expect(describeFailure(error)).toBe(`${line}\n`);
});

test.each<readonly [string, unknown, string]>([
  ['the first own frame', errorWith('no disk', [NODE, PACKAGE, OWN, 'run (/x.ts:1:1)']), OWN],
  [
    'a frame without parentheses',
    errorWith('no disk', ['async /main.ts:10:1']),
    'async /main.ts:10:1',
  ],
  ['the frame of its cause', errorWith('no disk', [NODE], errorWith('EIO', [PACKAGE, OWN])), OWN],
  ['a frame after a line of text', errorWith('no disk', ['noon it failed', OWN]), OWN],
])('a failure of the code of the service has %s', (_, error, frame) => {
  expect(describeFailure(new ServiceCodeError(error))).toBe(`no disk, at ${frame}\n`);
});

test.each<readonly [string, unknown]>([
  ['no own frame', errorWith('no disk', [NODE, PACKAGE])],
  ['no stack', Object.assign(new Error('no disk'), { stack: undefined })],
  ['no error', 'no disk'],
])('a failure of the code of the service with %s is its message', (_, error) => {
  expect(describeFailure(new ServiceCodeError(error))).toBe('no disk\n');
});

test('in development, the stack follows with the own frames first', () => {
  vi.stubEnv('NODE_ENV', 'development');

  expect(describeFailure(new ServiceCodeError(errorWith('no disk', [NODE, OWN])))).toBe(
    `no disk, at ${OWN}\nError: no disk\n    at ${OWN}\n    at ${NODE}\n`,
  );
});

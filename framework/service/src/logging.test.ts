import { expect, test } from 'vitest';

import { createLogger } from './logging.ts';

function recordingLogger() {
  const lines: string[] = [];
  const now = () => new Date('2026-11-21T10:00:00Z');
  return { lines, logger: createLogger('users', { write: (line) => lines.push(line), now }) };
}

test('a logger writes one JSON object a line, whatever the message holds', () => {
  const { lines, logger } = recordingLogger();

  logger.info('GET /a\n{"level":"info"}');
  logger.warn('slow');

  expect(lines).toEqual([
    '{"time":"2026-11-21T10:00:00.000Z","level":"info","service":"users",' +
      '"message":"GET /a\\n{\\"level\\":\\"info\\"}"}\n',
    '{"time":"2026-11-21T10:00:00.000Z","level":"warn","service":"users","message":"slow"}\n',
  ]);
});

test('a logger writes the stack of an error and of its cause', () => {
  const { lines, logger } = recordingLogger();

  logger.error('failed', new Error('outer', { cause: new RangeError('inner') }));

  const { error } = JSON.parse(lines[0] ?? '');
  expect(error).toMatch(/Error: outer\n {4}at /);
  expect(error).toMatch(/RangeError: inner\n {6,}at /);
});

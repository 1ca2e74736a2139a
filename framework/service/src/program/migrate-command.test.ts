import { NotFoundError, ServiceUnavailableError } from 'fw';
import { expect, test } from 'vitest';

import { UsageError } from './command-line.ts';
import { createMigrateCommand } from './migrate-command.ts';

/** Runs the command on a store whose first attempts fail; `open`: the stores that are left open. */
async function run(args: readonly string[], failedAttempts: number, error: Error = unavailable()) {
  const lines: string[] = [];
  const log = (message: string) => void lines.push(message);
  let attempts = 0;
  let open = 0;
  const command = createMigrateCommand(async () => {
    open++;
    return {
      async migrate() {
        if (++attempts <= failedAttempts) throw error;
      },
      async close() {
        open--;
      },
    };
  });
  const tools = {
    logger: { info: log, warn: log, error: log },
    signal: new AbortController().signal,
  };
  const ending = await command.run({}, args, tools).catch((reason: unknown) => reason);
  return { ending, attempts, open, lines };
}

function unavailable(): Error {
  return new ServiceUnavailableError('PostgreSQL cannot be used: connect ECONNREFUSED');
}

test('without --wait an unavailable store is an error immediately', async () => {
  expect(await run([], 1)).toMatchObject({ ending: unavailable(), attempts: 1, lines: [] });
});

test('--wait waits for an unavailable store, logs that once, and closes the store after each attempt', async () => {
  expect(await run(['--wait', '5'], 2)).toEqual({
    ending: 0,
    attempts: 3,
    open: 0,
    lines: ['Waiting for the store: PostgreSQL cannot be used: connect ECONNREFUSED'],
  });
});

test('--wait retries only for its seconds, and only while the store is unavailable', async () => {
  expect(await run(['--wait=1'], 100)).toMatchObject({
    ending: unavailable(),
    attempts: expect.toBeOneOf([2, 3]), // a timer may be a millisecond early
    open: 0,
  });
  const wrong = new NotFoundError('no such table');
  expect(await run(['--wait=5'], 1, wrong)).toMatchObject({ ending: wrong, attempts: 1, open: 0 });
});

test.for([[['now']], [['--wait']], [['--wait', 'long']], [['--wait=-1']], [['--quick']]] as const)(
  'migrate rejects the arguments %j',
  async ([args]) => {
    const { ending, attempts } = await run(args, 0);

    expect(ending).toBeInstanceOf(UsageError);
    expect(String(ending)).toContain('expected --wait and seconds from 0 to 9999');
    expect(attempts).toBe(0);
  },
);

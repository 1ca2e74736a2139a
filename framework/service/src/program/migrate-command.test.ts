import { NotFoundError, ServiceUnavailableError } from 'fw';
import { expect, test } from 'vitest';

import { UsageError } from './command-line.ts';
import { createMigrateCommand } from './migrate-command.ts';

/**
 * Runs the command on a store whose first attempts fail; `open`: the stores that are left open. `onLog` is
 * called with each message.
 */
async function run(
  args: readonly string[],
  failedAttempts: number,
  {
    applied = [],
    error = unavailable(),
    onLog = () => {},
    signal = new AbortController().signal,
  }: RunOptions = {},
) {
  const lines: string[] = [];
  const log = (message: string) => {
    lines.push(message);
    onLog();
  };
  let attempts = 0;
  let open = 0;
  const command = createMigrateCommand(async () => {
    open++;
    return {
      async migrate() {
        if (++attempts <= failedAttempts) throw error;
        return applied;
      },
      async close() {
        open--;
      },
    };
  });
  const tools = {
    logger: { info: log, warn: log, error: log },
    signal,
  };
  const ending = await command.run({}, args, tools).catch((reason: unknown) => reason);
  return { ending, attempts, open, lines };
}

interface RunOptions {
  /** The versions that the store applies. */
  readonly applied?: readonly number[];
  readonly error?: Error;
  readonly onLog?: () => void;
  readonly signal?: AbortSignal;
}

const NOTHING = 'Nothing to do: all migrations are applied';

function unavailable(): Error {
  return new ServiceUnavailableError('PostgreSQL cannot be used: connect ECONNREFUSED');
}

test('--wait waits for an unavailable store, logs that once, and closes the store after each attempt', async () => {
  expect(await run(['--wait', '5'], 2)).toEqual({
    ending: 0,
    attempts: 3,
    open: 0,
    lines: ['Waiting for the store: PostgreSQL cannot be used: connect ECONNREFUSED', NOTHING],
  });
});

test('migrate logs a line per migration', async () => {
  const { lines } = await run([], 0, { applied: [2, 3] });

  expect(lines).toEqual(['Applied migration 2', 'Applied migration 3']);
});

test('--wait waits after the first failed attempt, until the program ends', async () => {
  const abort = new AbortController();

  const { ending, attempts, open } = await run(['--wait=9999'], 100, {
    onLog: () => abort.abort(),
    signal: abort.signal,
  });

  expect(ending).toMatchObject({ name: 'AbortError' });
  expect([attempts, open]).toEqual([1, 0]);
});

test.each(['', '--wait=0'])(
  'with the arguments "%s" there is one attempt, after which the store is closed',
  async (args) => {
    const words = args === '' ? [] : args.split(' ');

    expect(await run(words, 0)).toEqual({
      ending: 0,
      attempts: 1,
      open: 0,
      lines: [NOTHING],
    });
    expect(await run(words, 1)).toEqual({ ending: unavailable(), attempts: 1, open: 0, lines: [] });
  },
);

test('--wait retries only for its seconds, and only while the store is unavailable', async () => {
  expect(await run(['--wait=1'], 100)).toMatchObject({
    ending: unavailable(),
    attempts: expect.toBeOneOf([2, 3]), // a timer may be a millisecond early
    open: 0,
  });
  const wrong = new NotFoundError('no such table');
  expect(await run(['--wait=5'], 1, { error: wrong })).toMatchObject({
    ending: wrong,
    attempts: 1,
    open: 0,
  });
});

test.for([[['--wait']], [['--wait=-1']], [['--wait:5']], [['--wait=10000']]] as const)(
  'migrate rejects the arguments %j',
  async ([args]) => {
    const { ending, attempts } = await run(args, 0);

    expect(ending).toBeInstanceOf(UsageError);
    expect(String(ending)).toContain(
      `Cannot migrate: got "${args.join(' ')}", expected --wait and seconds from 0 to 9999`,
    );
    expect(attempts).toBe(0);
  },
);

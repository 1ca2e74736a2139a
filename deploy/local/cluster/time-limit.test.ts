import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { createTimeLimit, reasonOf } from './time-limit.ts';

const endless = (signal: AbortSignal) => sleep(60_000, undefined, { signal });

test('a task that takes too long is aborted with its name', async () => {
  const limit = createTimeLimit(new AbortController().signal);

  await expect(limit(0.01, 'loading the images', endless)).rejects.toThrow(
    'Gave up loading the images after 0.01 s',
  );
});

test('an interruption aborts the task, and no other can start', async () => {
  const interrupted = new AbortController();
  const limit = createTimeLimit(interrupted.signal);
  const task = limit(60, 'waiting', endless);
  interrupted.abort(new Error('Interrupted'));

  await expect(task).rejects.toThrow(/Interrupted|aborted/);
  await expect(limit(60, 'waiting', async () => 'started')).rejects.toThrow('Interrupted');
});

test('reasonOf returns the last line of an error', () => {
  const error = new Error('Cannot run docker pull …: Pulling\nCannot run kind: no such host');

  expect(reasonOf(error)).toBe('no such host');
});

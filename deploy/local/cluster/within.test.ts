import { setTimeout as sleep } from 'node:timers/promises';

import { expect, test } from 'vitest';

import { limitedBy, reasonOf } from './within.ts';

const endless = (signal: AbortSignal) => sleep(60_000, undefined, { signal });

test('a task that takes too long ends with what it was doing', async () => {
  const within = limitedBy(new AbortController().signal);

  await expect(within(0.01, 'loading the images', endless)).rejects.toThrow(
    'Gave up loading the images after 0.01 s',
  );
});

test('an interrupted task ends with that reason, and no other is begun', async () => {
  const interrupted = new AbortController();
  const within = limitedBy(interrupted.signal);
  const task = within(60, 'waiting', endless);
  interrupted.abort(new Error('Interrupted'));

  await expect(task).rejects.toThrow(/Interrupted|aborted/);
  await expect(within(60, 'waiting', async () => 'begun')).rejects.toThrow('Interrupted');
});

test('the reason is the last line that a program has said', () => {
  const error = new Error('Cannot run docker pull …: Pulling\nCannot run kind: no such host');

  expect(reasonOf(error)).toBe('no such host');
});

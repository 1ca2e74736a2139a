import { setImmediate } from 'node:timers/promises';

import type { Logger } from 'fw';
import { expect, test } from 'vitest';

import { type Check, createCheckRunner } from './health.ts';

/** Creates a runner of `check`; `counts` has the number of runs, `lines` the log messages. */
function newRunner(check: Check, timeoutMs = 10_000) {
  const lines: string[] = [];
  const logger: Logger = {
    info: (text) => lines.push(text),
    warn: (text) => lines.push(text),
    error: () => {},
  };
  const counts = { started: 0 };
  const counted = () => {
    counts.started++;
    return check();
  };
  return { run: createCheckRunner('store', counted, { logger, timeoutMs }), counts, lines };
}

test('a check runs again for each sequential caller', async () => {
  const { run, counts } = newRunner(async () => {});

  expect(await run()).toBe('ok');
  await Promise.resolve();
  expect(await run()).toBe('ok');

  expect(counts.started).toBe(2);
});

test('concurrent callers share one run of a check', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { run, counts } = newRunner(() => promise);

  const outcomes = Promise.all(Array.from({ length: 50 }, run));
  resolve();

  expect(new Set(await outcomes)).toEqual(new Set(['ok']));
  expect(counts.started).toBe(1);
});

test('a check that throws fails like one that rejects', async () => {
  const { run, lines } = newRunner(() => {
    throw new Error('closed');
  });

  expect(await run()).toBe('failed');
  expect(lines).toEqual(['Check "store" failed: closed']);
});

test('the log has the first failure of a check, its reason, and the recovery', async () => {
  const reasons = ['gone', 'gone', 'refused', undefined, undefined];
  let at = 0;
  const { run, lines } = newRunner(async () => {
    const reason = reasons[at++];
    if (reason) throw new Error(reason);
  });

  for (const _ of reasons) await run();

  expect(lines).toEqual([
    'Check "store" failed: gone',
    'Check "store" failed: refused',
    'Check "store" passes again',
  ]);
});

test('a check that hangs fails, is not started again, and passes once it ends', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const { run, counts, lines } = newRunner(() => promise, 30);

  const first = await run();
  const later = await Promise.race([Promise.all([run(), run()]), setImmediate('waited')]);

  expect(first).toBe('failed');
  expect(later).toEqual(['failed', 'failed']);
  expect(counts.started).toBe(1);
  expect(lines).toEqual(['Check "store" failed: no result within 30 ms']);

  resolve();
  await expect.poll(run, { timeout: 10_000 }).toBe('ok');
});

test('a check that never ends is abandoned, so that a recovery is noticed', async () => {
  let isStuck = true;
  const { run } = newRunner(() => (isStuck ? new Promise(() => {}) : Promise.resolve()), 5);

  expect(await run()).toBe('failed');
  isStuck = false;

  await expect.poll(run, { timeout: 10_000 }).toBe('ok');
});

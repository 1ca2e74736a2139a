import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceUnavailableError } from 'fw';
import { expect, test } from 'vitest';

import { createBatch } from './batch.ts';

test('runs the calls of one turn of the event loop together, and returns each its own result', async () => {
  const batches: (readonly number[])[] = [];
  const double = createBatch(async (items: readonly number[]) => {
    batches.push(items);
    return items.map((item) => item * 2);
  });

  const results = await Promise.all([double(1), double(2), double(3)]);
  await double(4);

  expect(results).toEqual([2, 4, 6]);
  expect(batches).toEqual([[1, 2, 3], [4]]);
});

test('splits calls into batches and limits the number of concurrent batches', async () => {
  const sizes: number[] = [];
  const running: number[] = [0];
  const echo = createBatch(async (items: readonly number[]) => {
    sizes.push(items.length);
    running.push((running.at(-1) ?? 0) + 1);
    await sleep(1);
    running.push((running.at(-1) ?? 0) - 1);
    return items;
  });
  const items = Array.from({ length: 900 }, (_, at) => at);

  const results = await Promise.all(items.map(echo));

  expect(results).toEqual(items);
  expect(sizes).toEqual([200, 200, 200, 200, 100]);
  expect(Math.max(...running)).toBe(3);
});

test('rejects only the items that fail on their own', async () => {
  const invert = createBatch(async (items: readonly number[]) => {
    if (items.includes(0)) throw new RangeError('Cannot invert 0');
    return items.map((item) => 1 / item);
  });

  const results = await Promise.allSettled([invert(1), invert(0), invert(2)]);

  expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('does not repeat the items of a batch that failed with 503', async () => {
  let runs = 0;
  const ask = createBatch(async (_: readonly number[]): Promise<number[]> => {
    runs++;
    throw new ServiceUnavailableError();
  });

  const results = await Promise.allSettled([ask(1), ask(2)]);

  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(runs).toBe(1);
});

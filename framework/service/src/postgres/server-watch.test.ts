import { afterEach, beforeEach, expect, test, vi } from 'vitest';

import { ConnectionLostError } from './errors.ts';
import { type Call, ServerWatch } from './server-watch.ts';

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

/** A watch that takes a second of silence, and what it has done. */
function newWatch() {
  const done: string[] = [];
  const watch: ServerWatch = new ServerWatch({
    waitMs: 8_000,
    silenceMs: 1_000,
    probeMs: 400,
    probe: () => done.push('probe'),
    onSilence: (reason) => {
      done.push(reason.message);
      watch.giveUp(reason);
    },
  });
  return { watch, done };
}

/** A call that is never answered; how it ended. */
function neverAnswered(watch: ServerWatch, limitMs = Number.POSITIVE_INFINITY) {
  const ending = { error: undefined as unknown, isDropped: false };
  let call: Call | undefined;
  watch
    .run(limitMs, (given) => {
      call = given;
      return new Promise(() => {});
    })
    .catch((error: unknown) => {
      ending.error = error;
    });
  return { ending, connect: () => call?.connected(() => (ending.isDropped = true)) };
}

test('a silent server is probed again and again, then all its calls end', async () => {
  const { watch, done } = newWatch();
  const first = neverAnswered(watch);
  first.connect();
  const second = neverAnswered(watch);

  await vi.advanceTimersByTimeAsync(950);
  expect(done).toEqual(['probe', 'probe']);
  await vi.advanceTimersByTimeAsync(100);

  expect(done).toEqual(['probe', 'probe', 'no response within 1000 ms']);
  for (const { ending } of [first, second]) {
    expect(ending.error).toBeInstanceOf(ConnectionLostError);
  }
  expect([first.ending.isDropped, second.ending.isDropped]).toEqual([true, false]);
});

test('anything that the server sends keeps all calls waiting, up to the limit of each', async () => {
  const { watch, done } = newWatch();
  const limited = neverAnswered(watch, 5_000);
  const unlimited = neverAnswered(watch);
  limited.connect();
  unlimited.connect();

  for (let spoken = 0; spoken < 60; spoken++) {
    watch.heard();
    await vi.advanceTimersByTimeAsync(100);
  }

  expect(done).toEqual([]);
  expect(limited.ending.error).toEqual(new ConnectionLostError('no response within 5000 ms'));
  expect(unlimited.ending.error).toBeUndefined();
});

test('the limit of a call starts when it has its connection, for which it waits up to waitMs', async () => {
  const { watch } = newWatch();
  const late = neverAnswered(watch, 5_000);
  const waiting = neverAnswered(watch, 5_000);
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 100) {
      watch.heard();
      await vi.advanceTimersByTimeAsync(100);
    }
  };

  await pass(7_000);
  late.connect();
  await pass(2_000);
  expect(waiting.ending.error).toEqual(new ConnectionLostError('no connection within 8000 ms'));
  expect(late.ending.error).toBeUndefined();
  await pass(4_000);

  expect(late.ending.error).toEqual(new ConnectionLostError('no response within 5000 ms'));
});

test('time in which this process could not look does not count', async () => {
  const { watch, done } = newWatch();
  const { ending } = neverAnswered(watch, 1_000);

  await vi.advanceTimersByTimeAsync(50);
  // The processor was somewhere else for a minute: the next tick is late, and there is one.
  vi.setSystemTime(Date.now() + 60_000);
  await vi.advanceTimersByTimeAsync(50);

  expect(done).toEqual([]);
  expect(ending.error).toBeUndefined();
});

test('silence while nobody asks is none', async () => {
  const { watch, done } = newWatch();

  expect(await watch.run(1_000, async () => 'answer')).toBe('answer');
  await vi.advanceTimersByTimeAsync(10_000);

  expect(watch.isAsking).toBe(false);
  expect(done).toEqual([]);
  expect(vi.getTimerCount()).toBe(0);
});

test('giveUpWaiting leaves the calls that have their connection', async () => {
  const { watch } = newWatch();
  const connected = neverAnswered(watch);
  connected.connect();
  const waiting = neverAnswered(watch);

  watch.giveUpWaiting(new Error('refused'));
  await vi.advanceTimersByTimeAsync(0);

  expect(waiting.ending.error).toEqual(new Error('refused'));
  expect(connected.ending.error).toBeUndefined();
});

test('what work throws reaches who asked', async () => {
  const { watch } = newWatch();

  const refused = watch.run(1_000, async () => {
    throw new RangeError('refused');
  });

  await expect(refused).rejects.toThrow(RangeError);
  expect(watch.isAsking).toBe(false);
});

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';

import { createAdmission, type RejectReason } from './admission.ts';

/** An admission whose clock stands still, and the requests that began or were rejected, in order. */
function newAdmission() {
  const clock = { nowMs: 0 };
  const resource = { isSaturated: true };
  const admission = createAdmission({
    now: () => clock.nowMs,
    isSaturated: () => resource.isSaturated,
  });
  const events: string[] = [];
  const enter = (name: string, { isCritical = false, hasLeft = false } = {}) =>
    admission.enter({
      isCritical,
      hasLeft: () => hasLeft,
      start: () => void events.push(name),
      reject: (reason: RejectReason) => void events.push(`${name}: ${reason}`),
    });
  const settle = () => expect.poll(() => admission.waiting).toBe(0);
  return { admission, clock, enter, events, resource, settle };
}

test('requests begin immediately until one turn of the event loop has taken 10 ms', async () => {
  const { admission, clock, resource } = newAdmission();
  resource.isSaturated = false;

  const first = admission.isOpen();
  clock.nowMs = 9.9;
  const second = admission.isOpen();
  clock.nowMs = 10;
  const third = admission.isOpen();
  await nextTurn();
  const afterTurn = admission.isOpen();

  expect([first, second, third, afterTurn]).toEqual([true, true, false, true]);
});

test('no request overtakes the queue, which runs in order of arrival', async () => {
  const { admission, enter, events, resource, settle } = newAdmission();
  for (const name of ['a', 'b', 'c']) enter(name);
  resource.isSaturated = false;
  const isOpen = admission.isOpen();

  await settle();

  expect({ isOpen, events }).toEqual({ isOpen: false, events: ['a', 'b', 'c'] });
});

test('waiting requests get as much time of a turn as its other work, at least 2 ms', async () => {
  const { admission, clock, events, resource } = newAdmission();
  resource.isSaturated = false;
  const start = () => {
    clock.nowMs += 1;
    events.push('start');
  };
  const entry = { isCritical: false, hasLeft: () => false, start, reject: () => {} };
  for (let count = 0; count < 20; count++) admission.enter(entry);
  await nextTurn();
  const first = events.splice(0).length;
  await nextTurn();
  const withoutOtherWork = events.splice(0).length;
  clock.nowMs += 5;
  await nextTurn();
  const withOtherWork = events.splice(0).length;

  // The first turn was scheduled when one request waited.
  expect([first, withoutOtherWork, withOtherWork]).toEqual([1, 2, 5]);
});

test('critical requests begin first', async () => {
  const { enter, events, resource, settle } = newAdmission();
  enter('a');
  enter('b');
  enter('critical', { isCritical: true });
  resource.isSaturated = false;

  await settle();

  expect(events).toEqual(['critical', 'a', 'b']);
});

test('requests wait while a resource is saturated, each for at most 2 s', async () => {
  const { clock, enter, events, settle } = newAdmission();
  enter('a');
  clock.nowMs = 2_000;
  await sleep(20);
  const before = [...events];

  clock.nowMs = 2_000.1;
  await settle();

  expect({ before, events }).toEqual({ before: [], events: ['a: queue_delay'] });
});

test('a queue in which requests wait more than 100 ms for 2 s rejects after 500 ms', async () => {
  const { clock, enter, events, resource, settle } = newAdmission();
  enter('a');
  clock.nowMs = 1_000;
  enter('b');
  clock.nowMs = 1_900;
  enter('c');
  clock.nowMs = 2_001;
  enter('d');
  await expect.poll(() => events).toEqual(['a: queue_delay', 'b: queue_delay']);

  resource.isSaturated = false;
  await settle();

  expect(events.slice(2)).toEqual(['c', 'd']);
});

test('a queue that is never empty, but in which no request waits long, is not overloaded', async () => {
  const { admission, clock, events, resource, settle } = newAdmission();
  resource.isSaturated = false;
  /** A request that takes 40 ms, the 59th 600 ms; its client then sends another one. */
  const send = (number: number) =>
    admission.enter({
      isCritical: false,
      hasLeft: () => false,
      start() {
        events.push(`${number}`);
        clock.nowMs += number === 59 ? 600 : 40;
        if (number <= 58) send(number + 2);
      },
      reject: (reason) => void events.push(`${number}: ${reason}`),
    });

  send(1);
  send(2);
  await settle();

  expect(events).toEqual(Array.from({ length: 60 }, (_, index) => `${index + 1}`));
});

test('an empty queue ends the overload: requests may wait 2 s again', async () => {
  const { clock, enter, events, resource, settle } = newAdmission();
  enter('a');
  clock.nowMs = 2_100;
  await settle();
  enter('b');
  clock.nowMs = 4_099;
  await sleep(20);
  resource.isSaturated = false;
  await settle();

  expect(events).toEqual(['a: queue_delay', 'b']);
});

test('the request of a client that has left does not begin', async () => {
  const { enter, events, resource, settle } = newAdmission();
  enter('a', { hasLeft: true });
  enter('b');
  resource.isSaturated = false;

  await settle();

  expect(events).toEqual(['a: client_left', 'b']);
});

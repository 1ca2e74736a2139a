import { expect, onTestFinished, test, vi } from 'vitest';

import { canSetHeadText } from '../node/tracked-response.ts';
import { openConnection } from '../testing/index.ts';
import { serve } from '../testing/vitest.ts';

// In a file of its own: the cached date must be empty.
test('Date changes when a second begins, also after a first response in the middle of a second', async ({
  skip,
}) => {
  skip(!canSetHeadText, 'Node caches the date of its own head');
  vi.useFakeTimers({
    toFake: ['Date', 'setTimeout', 'clearTimeout'],
    now: Date.UTC(2030, 0, 1, 12, 0, 0, 600),
  });
  onTestFinished(() => void vi.useRealTimers());
  const { port } = await serve((ctx) => ctx.send('plain'));
  /** The time in `Date`, for a connection that stays open and for one that is closed. */
  const times = async () => {
    const found: (string | undefined)[] = [];
    for (const connection of ['keep-alive', 'close']) {
      const client = openConnection(port);
      client.send(`GET / HTTP/1.1\r\nHost: a\r\nConnection: ${connection}\r\n\r\n`);
      const [, time] =
        /^Date: Tue, 01 Jan 2030 (.*) GMT\r$/m.exec(await client.read(/plain$/)) ?? [];
      found.push(time);
      client.close();
    }
    return found;
  };

  expect(await times()).toEqual(['12:00:00', '12:00:00']);
  vi.advanceTimersByTime(399);
  expect(await times()).toEqual(['12:00:00', '12:00:00']);
  vi.advanceTimersByTime(1);
  expect(await times()).toEqual(['12:00:01', '12:00:01']);
  vi.advanceTimersByTime(1_000);
  expect(await times()).toEqual(['12:00:02', '12:00:02']);
});

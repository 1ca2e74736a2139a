import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { quiet } from '@fw/core/testing';

import { expect, onTestFinished, test, vi } from 'vitest';

import { createApp } from '../application.ts';
import { canSetHeadText } from '../node/tracked-response.ts';
import { createServer } from '../server/create-server.ts';
import { openConnection } from '../testing/index.ts';

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
  const app = createApp({ logger: quiet });
  const server = createServer(app.use((ctx) => ctx.send('plain'))).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
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

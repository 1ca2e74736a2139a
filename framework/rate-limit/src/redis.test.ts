import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';

import { rateLimit } from './rate-limit.ts';
import { type RedisClient, redisStore } from './redis.ts';
import { SCRIPT } from './redis-script.ts';
import { ALGORITHMS } from './store.ts';
import { connect, type TestClient } from './testing/redis-client.ts';
import { type RedisServer, startRedisServer } from './testing/redis-server.ts';
import { policyOf, testStore } from './testing/store-suite.ts';

/** A client that records the commands it sends. */
function recording(client: RedisClient) {
  const commands: string[][] = [];
  const recorded: RedisClient = {
    get isReady() {
      return client.isReady;
    },
    sendCommand: (args) => {
      commands.push(args);
      return client.sendCommand(args);
    },
    on: (event, listener) => client.on(event, listener),
  };
  return { client: recorded, commands };
}

/** A client of a server whose clock is `seconds` ahead. */
function movedClock(client: RedisClient, seconds: number): RedisClient {
  const script = SCRIPT.replace('local clock =', `local clock = ${seconds * 1e6} +`);
  return {
    isReady: true,
    sendCommand: ([_command, _sha, ...args]) => client.sendCommand(['EVAL', script, ...args]),
    on: (event, listener) => client.on(event, listener),
  };
}

/** Keeps the event loop from going on. */
function busy(ms: number): void {
  const endMs = performance.now() + ms;
  while (performance.now() < endMs);
}

describe('with a server', () => {
  let server: RedisServer;
  let client: TestClient;

  beforeAll(async () => {
    server = await startRedisServer();
    client = await connect(server.url);
  });

  afterAll(async () => {
    client.destroy();
    await server.stop();
  });

  testStore('redisStore', () => ({
    store: redisStore(client),
    toleranceMs: 3,
    wait: (milliseconds) => sleep(milliseconds),
  }));

  test.each(ALGORITHMS)(
    'a %s blocks no key for longer because the clock of the server was set back',
    async (algorithm) => {
      const policy = policyOf({ name: 'set-back', algorithm, max: 1, burst: 1, windowMs: 60_000 });
      const early = redisStore(movedClock(client, 3_600)).counter(policy);
      const counter = redisStore(client).counter(policy);

      await early.hit('ada', 1);
      const repeated = await early.hit('ada', 1);
      const afterwards = await counter.hit('ada', 1);

      expect(repeated.allowed).toBe(false);
      expect(afterwards.allowed).toBe(true);
    },
  );

  test('a sliding window under load allows at most max in any interval of its length', async () => {
    const policy = policyOf({ name: 'hammered', max: 10, windowMs: 150 });
    const counter = redisStore(client).counter(policy);
    const passed: { sentMs: number; receivedMs: number }[] = [];
    const startedMs = performance.now();

    while (performance.now() - startedMs < 1_500) {
      const sentMs = performance.now();
      const { allowed } = await counter.hit('key', 1);
      if (allowed) passed.push({ sentMs, receivedMs: performance.now() });
      await sleep(Math.random() * 6);
    }

    for (const [at, { sentMs }] of passed.entries()) {
      const eleventh = passed[at + policy.max];
      if (eleventh) expect(eleventh.receivedMs - sentMs).toBeGreaterThanOrEqual(policy.windowMs);
    }
    expect(passed.length).toBeGreaterThan(75); // of the 100 that the limit is
  });

  test('exactly 100 of 1,000 parallel requests to three processes pass', async () => {
    const replica = fileURLToPath(new URL('./testing/replica.ts', import.meta.url));
    const run = promisify(execFile);

    const outputs = await Promise.all(
      ['334', '333', '333'].map((count) => run(process.execPath, [replica, server.url, count])),
    );

    const passed = outputs.map(({ stdout }) => Number(stdout));
    expect(passed.reduce((sum, count) => sum + count)).toBe(100);
  });

  test('all hits of one turn of the event loop are one command', async () => {
    const { client: recorded, commands } = recording(client);
    const counter = redisStore(recorded).counter(policyOf({ name: 'turn', max: 100 }));
    await counter.hit('warm', 1);
    commands.length = 0;

    const hits = await Promise.all([1, 2, 3, 4, 5].map((cost) => counter.hit('key', cost)));

    expect(commands.map(([name]) => name)).toEqual(['EVALSHA']);
    expect(hits.map(({ remaining }) => remaining)).toEqual([99, 97, 94, 90, 85]);
  });

  test('more hits than one command may have are sent as several', async () => {
    const { client: recorded, commands } = recording(client);
    const counter = redisStore(recorded).counter(policyOf({ name: 'many', max: 600 }));
    await counter.hit('warm', 1);
    commands.length = 0;

    const hits = await Promise.all(Array.from({ length: 1_200 }, () => counter.hit('key', 1)));

    expect(commands).toHaveLength(3);
    expect(hits.filter(({ allowed }) => allowed)).toHaveLength(600);
  });

  test('a key that is known to be blocked needs no command until its block ends', async () => {
    const { client: recorded, commands } = recording(client);
    const counter = redisStore(recorded).counter(
      policyOf({ name: 'known', max: 1, windowMs: 600 }),
    );
    await counter.hit('key', 1);
    const rejected = await counter.hit('key', 1);
    commands.length = 0;

    const again = await counter.hit('key', 1);
    const sent = commands.length;
    await sleep(rejected.resetMs + 3);
    const free = await counter.hit('key', 1);

    expect(again).toMatchObject({ allowed: false, remaining: 0 });
    expect(again.resetMs).toBeLessThanOrEqual(rejected.resetMs);
    expect(sent).toBe(0);
    expect(free.allowed).toBe(true);
  });

  test('a block of an expensive request does not block a cheap one', async () => {
    const counter = redisStore(client).counter(policyOf({ name: 'dear', max: 5 }));
    await counter.hit('key', 3);

    expect(await counter.hit('key', 3)).toMatchObject({ allowed: false });
    expect(await counter.hit('key', 2)).toMatchObject({ allowed: true });
  });

  test('a process that was busy for longer than the time-out still reads the reply', async () => {
    const counter = redisStore(client, { timeout: 50 }).counter(policyOf({ name: 'busy' }));
    const hit = counter.hit('key', 1);
    // One turn until the store sends, another until the client writes.
    for (let turn = 0; turn < 2; turn++) await new Promise((resolve) => setImmediate(resolve));

    busy(200);

    expect(await hit).toMatchObject({ allowed: true });
  });

  test('a busy process does not consider the server unavailable', async () => {
    const client: RedisClient = {
      isReady: true,
      on: () => {},
      async sendCommand() {
        for (let turn = 0; turn < 3; turn++) {
          await new Promise((resolve) => setImmediate(resolve));
          busy(60);
        }
        return [4, 1_000_000];
      },
    };
    const counter = redisStore(client, { timeout: 40 }).counter(policyOf({}));

    expect(await counter.hit('busy', 1)).toMatchObject({ allowed: true, remaining: 4 });
  });

  test('stores of one client listen once for its errors', () => {
    let listeners = 0;
    const listening: RedisClient = {
      isReady: true,
      sendCommand: async () => [],
      on: () => listeners++,
    };

    redisStore(listening);
    redisStore(listening);

    expect(listeners).toBe(1);
  });

  test('a server that has lost the script gets it again', async () => {
    const { client: recorded, commands } = recording(client);
    const counter = redisStore(recorded).counter(policyOf({ name: 'flushed', max: 5 }));
    await counter.hit('key', 1);
    await client.sendCommand(['SCRIPT', 'FLUSH']);
    commands.length = 0;

    expect(await counter.hit('key', 1)).toMatchObject({ remaining: 3 });
    expect(commands.map(([name]) => name)).toEqual(['EVALSHA', 'EVAL']);
  });

  test('counts expire on the server with their window', async () => {
    const policy = policyOf({ windowMs: 60_000 });
    const key = 'expires:suite:sliding-window:3:60000:3:key';

    await redisStore(client, { prefix: 'expires:' }).counter(policy).hit('key', 1);

    expect(await client.sendCommand(['KEYS', 'expires:*'])).toEqual([key]);
    const leftMs = Number(await client.sendCommand(['PTTL', key]));
    expect(leftMs).toBeGreaterThan(0);
    expect(leftMs).toBeLessThanOrEqual(60_000);
  });
});

describe('with a server that fails', () => {
  /** An application with a limit of 5, its log, and the duration of each response. */
  async function createWorld() {
    const server = await startRedisServer();
    onTestFinished(() => server.stop());
    const client = await connect(server.url);
    onTestFinished(() => client.destroy());
    const lines: string[] = [];
    const logger = {
      info: (message: string) => void lines.push(message),
      warn: (message: string) => void lines.push(message),
      error: (message: string) => void lines.push(message),
    };
    const app = createApp({ logger, trustProxy: 1 });
    app.use(errorHandler(), rateLimit({ max: 5, window: '1m', store: redisStore(client) }), (ctx) =>
      ctx.send('ok'),
    );
    const send = async (ip: string) => {
      const startedMs = performance.now();
      const { status } = await request(app, '/', { headers: { 'X-Forwarded-For': ip } });
      return { status, tookMs: performance.now() - startedMs };
    };
    /** Sends requests with a separate key until the server counts them. */
    const untilExact = async () => {
      const startedMs = performance.now();
      while (lines.length < 2 && performance.now() - startedMs < 30_000) {
        await send('192.0.2.99');
        await sleep(20);
      }
      return performance.now() - startedMs;
    };
    await send('192.0.2.1'); // also warms up the code
    return { server, client, lines, send, untilExact };
  }

  const FAILS = 'The rate limit store fails: limits are not exact until it recovers';
  const BACK = 'The rate limit store has recovered: limits are exact again';

  test.each(['SIGKILL', 'SIGSTOP'] as const)(
    'after %s, responses are in time with the local limit, and exact soon after recovery',
    async (signal) => {
      const { server, client, lines, send, untilExact } = await createWorld();
      for (let sent = 0; sent < 4; sent++) await send('192.0.2.2');

      await server.signal(signal);
      const first = await send('192.0.2.2');
      const later = [];
      for (let sent = 0; sent < 30; sent++) {
        later.push(await send('192.0.2.2'));
        await sleep(20);
      }
      const saidWhileAway = [...lines];
      if (signal === 'SIGKILL') await server.restart();
      else await server.signal('SIGCONT');
      await untilExact();
      const passed = [];
      for (let sent = 0; sent < 8; sent++) passed.push((await send('192.0.2.3')).status);

      // Only the first request, and a retry now and then in the background, wait 100 ms for the server.
      expect(later.reduce((sum, { tookMs }) => sum + tookMs, 0)).toBeLessThan(30 * 100);
      expect([first, ...later].filter(({ status }) => status === 200)).toHaveLength(5);
      expect(saidWhileAway).toEqual([FAILS]);
      expect(lines).toEqual([FAILS, BACK]);
      expect(passed).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
      const kept = await client.sendCommand(['KEYS', '*192.0.2.3']);
      expect(kept).toHaveLength(1);
    },
  );

  test('a limiter that starts before its server limits locally, then exactly', async () => {
    const { server, lines, send, untilExact } = await createWorld();
    await server.signal('SIGKILL');
    await sleep(100);

    const duringOutage = await send('192.0.2.4');
    await server.restart();
    await untilExact();

    expect(duringOutage.status).toBe(200);
    expect(lines).toEqual([FAILS, BACK]);
  });
});

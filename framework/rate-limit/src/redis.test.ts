import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createApp } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { rateLimit } from './rate-limit.ts';
import { type RedisClient, redisClientOptions, redisStore } from './redis.ts';
import { SCRIPT } from './redis-script.ts';
import { ALGORITHMS } from './store.ts';
import { connect, type TestClient } from './testing/redis-client.ts';
import { type RedisServer, startRedisServer } from './testing/redis-server.ts';
import { policyOf, testStore } from './testing/store-suite.ts';

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
    expect(passed.length).toBeGreaterThan(policy.max); // it refills
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

  test('a busy process does not consider the server unavailable', async () => {
    const client: RedisClient = {
      isReady: true,
      on: () => {},
      async sendCommand() {
        for (let turn = 0; turn < 3; turn++) {
          await setImmediate();
          busy(60);
        }
        return [4, 1_000_000];
      },
    };
    const counter = redisStore(client, { timeout: 40 }).counter(policyOf({}));

    expect(await counter.hit('busy', 1)).toMatchObject({ allowed: true, remaining: 4 });
  });

  test('a server that has lost the script gets it again', async () => {
    const counter = redisStore(client).counter(policyOf({ name: 'flushed', max: 5 }));
    await counter.hit('key', 1);

    await client.sendCommand(['SCRIPT', 'FLUSH']);

    expect(await counter.hit('key', 1)).toMatchObject({ remaining: 3 });
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

describe('with a client that returns prepared replies', () => {
  /** A counter, the commands of its client, and what the client returns for each hit or throws. */
  function createWorld({ timeout = 10_000 } = {}) {
    const commands: (readonly string[])[] = [];
    const events: string[] = [];
    const state = {
      isReady: true,
      reply: (count: number): unknown =>
        Array.from({ length: count }, () => [2, 60_000_000]).flat(),
    };
    const client: RedisClient = {
      get isReady() {
        return state.isReady;
      },
      sendCommand: async (args) => {
        commands.push(args);
        return state.reply(Number(args[2]));
      },
      on: (event) => events.push(event),
    };
    const counter = redisStore(client, { timeout }).counter(policyOf());
    const rejectFor = (resetMs: number) => {
      state.reply = (count) => Array.from({ length: count }, () => [-1, resetMs * 1_000]).flat();
    };
    return { client, commands, counter, events, rejectFor, state };
  }

  test('a command has the script, keys, policy and costs unless all are 1; its replies are in order', async () => {
    const { commands, counter, state } = createWorld();
    const key = '{rate-limit}:suite:sliding-window:3:400:3:';
    await counter.hit('a', 1);
    state.reply = () => [5, 1_000, -2, 2_500];

    const hits = await Promise.all([counter.hit('a', 1), counter.hit('b', 2)]);

    const sha = createHash('sha1').update(SCRIPT).digest('hex');
    const policy = ['sliding-window', '3', '400000', '3'];
    expect(commands).toEqual([
      ['EVALSHA', sha, '1', `${key}a`, ...policy],
      ['EVALSHA', sha, '2', `${key}a`, `${key}b`, ...policy, '1', '2'],
    ]);
    expect(hits).toEqual([
      { allowed: true, remaining: 5, resetMs: 1 },
      { allowed: false, remaining: 1, resetMs: 2.5 },
    ]);
  });

  test('more hits than one command may have are sent as several', async () => {
    const { commands, counter } = createWorld();

    await Promise.all(Array.from({ length: 1_000 }, () => counter.hit('key', 1)));

    expect(commands.map(([_command, _sha, count]) => count)).toEqual(['500', '500']);
  });

  test('stores of one client listen once for its errors', () => {
    const { client, events } = createWorld();

    redisStore(client);

    expect(events).toEqual(['error']);
  });

  test.each([
    ['an error of the server', new Error('READONLY replica'), 'READONLY replica'],
    ['a reply with a text', [2, '9'], 'Cannot read the script\'s reply "2,9": expected numbers'],
  ])('%s rejects the hit, and no block is known any more', async (_, reply, message) => {
    const { commands, counter, rejectFor, state } = createWorld();
    rejectFor(60_000);
    await counter.hit('blocked', 1);

    state.reply = () => {
      if (reply instanceof Error) throw reply;
      return reply;
    };
    const failing = counter.hit('key', 1);

    await expect(failing).rejects.toThrow(message);
    expect(counter.findRefusal?.('blocked', 1)).toBeUndefined();
    expect(commands.map(([name]) => name)).toEqual(['EVALSHA', 'EVALSHA']);
  });

  test('a hit throws without a connection, and no block is known any more', async () => {
    const { counter, rejectFor, state } = createWorld();
    rejectFor(60_000);
    await counter.hit('blocked', 1);

    state.isReady = false;

    expect(() => counter.hit('key', 1)).toThrow('The Redis client is not connected');
    expect(() => counter.hit('blocked', 1)).toThrow('The Redis client is not connected');
  });

  test('while a command is overdue, hits throw at once', async () => {
    const { counter, state } = createWorld({ timeout: 20 });
    await counter.hit('key', 1);
    const { promise, resolve } = Promise.withResolvers<unknown>();
    state.reply = () => promise;
    const startedMs = performance.now();

    const late = counter.hit('key', 1);

    await expect(late).rejects.toThrow('The Redis server has not responded within 20 ms');
    expect(performance.now() - startedMs).toBeGreaterThan(25);
    expect(() => counter.hit('key', 1)).toThrow('The Redis server does not respond');
    resolve([2, 1_000]);
    await setImmediate();
    expect(await counter.hit('key', 1)).toMatchObject({ allowed: true });
  });

  test('a block is known from the cost that was rejected on, until it ends', async () => {
    const { commands, counter, rejectFor } = createWorld();
    rejectFor(20);
    for (const key of ['other', 'key']) await counter.hit(key, 2);

    const known = ['other', 'key', 'key'].map((key) => counter.hit(key, 2));
    const cheap = counter.findRefusal?.('key', 1);
    await sleep(25);
    const ended = counter.findRefusal?.('key', 2);

    const refusal = { allowed: false, remaining: 0, resetMs: expect.any(Number) };
    expect(known).toEqual([refusal, refusal, refusal]);
    expect([cheap, ended]).toEqual([undefined, undefined]);
    expect(commands).toHaveLength(2);
  });

  test('at most 10,000 blocks are known: the newest', async () => {
    const { counter, rejectFor } = createWorld();
    rejectFor(60_000);
    const block = (from: number, to: number) =>
      Promise.all(Array.from({ length: to - from }, (_, at) => counter.hit(`${from + at}`, 1)));
    const isKnown = (key: number) => counter.findRefusal?.(`${key}`, 1) !== undefined;

    await block(0, 10_000);
    const before = [0, 1, 9_999].map(isKnown);
    await block(10_000, 10_001);
    const after = [0, 1, 10_000].map(isKnown);

    expect(before).toEqual([true, true, true]);
    expect(after).toEqual([false, true, true]);
  });

  test.each([
    [3, 400],
    [100, 500],
  ])('after %i failed attempts, the client waits %i ms to reconnect', (retries, milliseconds) => {
    expect(redisClientOptions.socket.reconnectStrategy(retries)).toBe(milliseconds);
  });
});

test.each(['SIGKILL', 'SIGSTOP'] as const)(
  'after %s, responses are in time with the local limit, and exact soon after recovery',
  async (signal) => {
    const server = await startRedisServer();
    onTestFinished(() => server.stop());
    const client = await connect(server.url);
    onTestFinished(() => client.destroy());
    const { logger, lines } = recordLog();
    const app = createApp({ logger, trustProxy: 1 });
    app.use(errorHandler(), rateLimit({ max: 5, window: '1m', store: redisStore(client) }), (ctx) =>
      ctx.send('ok'),
    );
    const send = async (ip: string) =>
      (await request(app, '/', { headers: { 'X-Forwarded-For': ip } })).status;
    const fails = 'error: The rate limit store fails: limits are not exact until it recovers';
    // Warms up the code; on a busy machine, one of these requests may wait too long for the server.
    for (let sent = 0; sent < 4; sent++) await send('192.0.2.1');
    await expect.poll(() => send('192.0.2.1').then(() => lines.length % 2)).toBe(0);
    lines.length = 0;

    await server.signal(signal);
    const statuses = [await send('192.0.2.2')];
    let tookMs = 0;
    for (let sent = 0; sent < 30; sent++) {
      const startedMs = performance.now();
      statuses.push(await send('192.0.2.2'));
      tookMs += performance.now() - startedMs;
      await sleep(20);
    }
    const linesBefore = [...lines];
    if (signal === 'SIGKILL') await server.restart();
    else await server.signal('SIGCONT');
    const linesAfter = () => send('192.0.2.99').then(() => lines.length);
    await expect.poll(linesAfter).toBe(2);
    const passed = [];
    for (let sent = 0; sent < 8; sent++) passed.push(await send('192.0.2.3'));

    // Only the first request, and a retry now and then in the background, wait 100 ms for the server.
    expect(tookMs).toBeLessThan(30 * 100);
    expect(statuses.filter((status) => status === 200)).toHaveLength(5);
    expect(linesBefore).toEqual([fails]);
    expect(lines).toEqual([
      fails,
      'info: The rate limit store has recovered: limits are exact again',
    ]);
    expect(passed).toEqual([200, 200, 200, 200, 200, 429, 429, 429]);
    expect(await client.sendCommand(['KEYS', '*192.0.2.3'])).toHaveLength(1);
  },
);

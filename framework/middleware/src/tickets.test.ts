import { once } from 'node:events';
import { createApp, createRouter } from '@fw/core';
import { quiet, recordLog, request } from '@fw/core/testing';
import { createMetrics, createServiceApp } from '@fw/service';
import { describe, expect, expectTypeOf, test } from 'vitest';
import { WebSocket } from 'ws';
import { serve } from '../../core/src/testing/vitest.ts';
import { bearerToken } from './bearer-token/bearer-token.ts';
import { memoryStore } from './idempotency/idempotency.ts';
import { sse } from './sse.ts';
import { AUDIENCE, ISSUER, SECRET, sign } from './testing/tokens.ts';
import { createTickets, type TicketsOptions } from './tickets.ts';
import { websocket } from './websocket/websocket.ts';

const OTHER_SECRET = 'another secret of at least 32 bytes';
const ADA = { id: 'ada', scopes: ['read'] };

const createEvents = (options: Partial<TicketsOptions> = {}) =>
  createTickets<typeof ADA>({ audience: 'events', secrets: [SECRET], ...options });

/** The response of a replica to a request with this query. */
function open(tickets: ReturnType<typeof createEvents>, query: string) {
  const router = createRouter().get('/', tickets.guard, (ctx) => {
    expectTypeOf(ctx.state.user.scopes).toEqualTypeOf<string[]>();
    return ctx.state.user;
  });
  const app = createApp({ logger: quiet });
  app.route('/', router);
  return request(app, `/?${query}`);
}

async function detailOf(response: Response): Promise<unknown> {
  expect(response.status).toBe(401);
  return ((await response.json()) as { detail: string }).detail;
}

test('a ticket opens one connection of its user, and no cache may store the response', async () => {
  const tickets = createEvents();
  const query = `ticket=${tickets.create(ADA)}`;

  const first = await open(tickets, query);
  const second = await open(tickets, query);

  expect(await first.json()).toEqual(ADA);
  expect(first.headers.get('cache-control')).toBe('no-store');
  expect(await detailOf(second)).toBe('the ticket was used before');
});

test('of requests with the same ticket at the same time, one is accepted', async () => {
  const tickets = createEvents();
  const query = `ticket=${tickets.create(ADA)}`;

  const responses = await Promise.all(Array.from({ length: 5 }, () => open(tickets, query)));

  expect(responses.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401, 401]);
});

describe('a ticket is rejected', () => {
  const valid = createEvents().create(ADA);
  const changed = valid.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));

  test.each([
    ['if it is missing', '', 'a ticket is required'],
    ['if it is empty', 'ticket=', 'the ticket is not valid'],
    ['if it was changed', `ticket=${changed}`, 'the ticket is not valid'],
    ['in another spelling', `ticket=${valid}=`, 'the ticket is not valid'],
    ['if there are two', `ticket=${valid}&ticket=${valid}`, 'the ticket is not valid'],
    ['if it is too long', `ticket=${'A'.repeat(4_097)}`, 'the ticket is not valid'],
    [
      'for another audience',
      `ticket=${createEvents({ audience: 'chat' }).create(ADA)}`,
      'the ticket is not valid',
    ],
    [
      'of another secret',
      `ticket=${createEvents({ secrets: [OTHER_SECRET] }).create(ADA)}`,
      'the ticket is not valid',
    ],
  ])('%s', async (_, query, detail) => {
    expect(await detailOf(await open(createEvents(), query))).toBe(detail);
  });

  test('after maxAgeSeconds', async () => {
    let nowMs = Date.now();
    const tickets = createEvents({ maxAgeSeconds: 10, now: () => new Date(nowMs) });
    const [early, late] = [tickets.create(ADA), tickets.create(ADA)];

    nowMs += 9_999;
    const inTime = await open(tickets, `ticket=${early}`);
    nowMs += 1;

    expect(inTime.status).toBe(200);
    expect(await detailOf(await open(tickets, `ticket=${late}`))).toBe('the ticket has expired');
  });
});

describe('several replicas', () => {
  test('accept the tickets of each other once, if they share a store', async () => {
    const store = memoryStore();
    const [a, b] = [createEvents({ store }), createEvents({ store })];
    const query = `ticket=${a.create(ADA)}`;

    const statuses = [(await open(b, query)).status, (await open(a, query)).status];

    expect(statuses).toEqual([200, 401]);
  });

  test('reject a used ticket although their clocks differ by its age', async () => {
    const store = memoryStore();
    const nowMs = Date.now();
    const at = (aheadMs: number) =>
      createEvents({ store, maxAgeSeconds: 10, now: () => new Date(nowMs + aheadMs) });
    const query = `ticket=${at(10_000).create(ADA)}`;

    const statuses = [(await open(at(0), query)).status, (await open(at(15_000), query)).status];

    expect(statuses).toEqual([200, 401]);
  });

  test('accept tickets of the previous secret', async () => {
    const query = `ticket=${createEvents().create(ADA)}`;

    const response = await open(createEvents({ secrets: [OTHER_SECRET, SECRET] }), query);

    expect(response.status).toBe(200);
  });
});

test('a user who does not fit into a URL is rejected', () => {
  const tickets = createEvents();

  expect(() => tickets.create({ id: 'a'.repeat(5_000), scopes: [] })).toThrow(
    /Cannot create a ticket of \d+ characters: expected a smaller user, for at most 4096/,
  );
});

test('a token becomes a ticket, which opens an event stream or a WebSocket and is not logged', async () => {
  const { logger, entries } = recordLog();
  const lines: unknown[] = [];
  const authenticate = bearerToken({ secret: SECRET, issuer: ISSUER, audience: AUDIENCE });
  const tickets = createEvents();
  const router = createRouter()
    .post('/tickets', authenticate, (ctx) => ({
      ticket: tickets.create({ id: ctx.state.user.id, scopes: [] }),
    }))
    .get(
      '/events',
      tickets.guard,
      sse(async function* (ctx) {
        yield { data: ctx.state.user?.id };
      }),
    )
    .get('/socket', tickets.guard, websocket({ open: (client) => client.send('open') }));
  const app = createServiceApp({
    logger: { ...logger, request: (entry) => lines.push(entry) },
    metrics: createMetrics(),
  });
  app.route('/', router);
  const { port } = await serve(app);
  const origin = `http://127.0.0.1:${port}`;
  const Authorization = `Bearer ${await sign()}`;
  const buy = async () => {
    const response = await fetch(`${origin}/tickets`, {
      method: 'POST',
      headers: { Authorization },
    });
    return ((await response.json()) as { ticket: string }).ticket;
  };
  const [first, second] = [await buy(), await buy()];

  const stream = await fetch(`${origin}/events?ticket=${first}`);
  const socket = new WebSocket(`${origin.replace('http', 'ws')}/socket?ticket=${second}`);
  const [message] = await once(socket, 'message');
  socket.close();

  expect(await stream.text()).toContain('data: ada\n');
  expect(String(message)).toBe('open');
  await expect.poll(() => lines.length).toBe(4);
  expect(JSON.stringify([lines, entries])).toContain('/socket');
  for (const ticket of [first, second]) {
    expect(JSON.stringify([lines, entries])).not.toContain(ticket.slice(0, 20));
  }
});

import { fileURLToPath } from 'node:url';

import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Context } from '../context.ts';
import { endpoint } from './endpoint.ts';
import { createRouter } from './router.ts';
import { compile } from './testing/compile.ts';

const Order = z.object({
  id: z.number(),
  status: z.enum(['open', 'paid']),
  lines: z.array(z.object({ sku: z.string(), isGift: z.literal(true).optional() })),
});
const order: z.output<typeof Order> = { id: 1, status: 'open', lines: [] };

describe('the handler of a route with a contract', () => {
  test('may return or send the declared response', () => {
    const one = endpoint({ responses: { 200: Order, 404: undefined } });
    const router = createRouter()
      .get('/a', one, () => ({ id: 1, status: 'paid', lines: [{ sku: 'a', isGift: true }] }))
      .get('/b', one, async () => ({ id: 1, status: 'open', lines: [] }))
      .get('/c', one, async (ctx) => {
        expectTypeOf(ctx.json).parameter(0).toEqualTypeOf<{
          readonly id: number;
          readonly status: 'open' | 'paid';
          readonly lines: readonly {
            readonly sku: string;
            readonly isGift?: true | undefined;
          }[];
        }>();
        if (ctx.query.all) return order;
        return undefined;
      })
      .get('/d', one, (ctx) => ctx.json(order))
      .get('/d/statement', one, async (ctx) => {
        ctx.status = 200;
        return ctx.json(order);
      })
      .get('/e', one, (ctx) => ctx.set('X-Kind', 'text').html('<p>'))
      .get('/f', one, () => new Blob(['file']));

    expect(router.getRoutes()).toHaveLength(7);
  });

  test('may return the response of any declared status', () => {
    const either = endpoint({
      responses: { 200: z.object({ data: Order }), 202: { schema: z.object({ job: z.string() }) } },
    });
    createRouter().post('/', either, (ctx) => (ctx.query.wait ? { data: order } : { job: '7' }));
  });

  test('may return anything if no successful response has a typed schema', () => {
    createRouter()
      .get('/a', endpoint({ responses: { 200: { type: 'object' } } }), () => ({ any: 1 }))
      .get('/b', endpoint({ responses: { 404: Order, 204: {} } }), () => ({ any: 1 }))
      .get('/c', endpoint({ summary: 'Any' }), () => ({ any: 1 }));
  });
});

describe('ctx.fail', () => {
  const email = endpoint({
    errors: { 409: { EMAIL_TAKEN: z.object({ email: z.string() }), KEY_IN_USE: true } },
  });
  const version = endpoint({ errors: { 412: ['VERSION_CONFLICT', 'LOCKED'], 423: 'FROZEN' } });

  test('takes the codes of each endpoint() before the handler, with their members', () => {
    createRouter().post('/', email, version, (ctx) => {
      if (ctx.query.a) ctx.fail('EMAIL_TAKEN', { email: 'a', detail: 'Another user has it' });
      if (ctx.query.b) ctx.fail('KEY_IN_USE', { detail: 'Used' });
      if (ctx.query.c) ctx.fail('LOCKED');
      expectTypeOf(ctx.fail('FROZEN')).toEqualTypeOf<never>();
    });
  });

  test('can be called by a function whose context declares the errors', () => {
    const fail = (ctx: Context<{ errors: { KEY_IN_USE: Record<never, never> } }>) =>
      ctx.fail('KEY_IN_USE');

    createRouter().post('/', email, (ctx) => fail(ctx));
  });
});

const START = `
import { createRouter, endpoint } from ${JSON.stringify(fileURLToPath(new URL('../index.ts', import.meta.url)))};
import type { StandardSchema } from ${JSON.stringify(fileURLToPath(new URL('../schema/index.ts', import.meta.url)))};
interface Order { id: number; lines: { sku: string }[] }
declare const Order: StandardSchema<unknown, Order>;
declare const row: Order & { passwordHash: string };
declare const pass: (ctx: unknown, next: () => Promise<void>) => unknown;
const one = endpoint({ responses: { 200: Order } });
const taken = endpoint({ errors: { 409: { TAKEN: Order, USED: true }, 412: 'STALE', 423: ['A', 'B'] } });
export const router = createRouter();
export const chained = createRouter({ prefix: '/x' }).get('/', one, () => row as Order);
`;

/** The arguments of `router.get('/x', …)`, or a whole call, and its error. */
const WRONG: readonly [route: string, message: string][] = [
  ['one, () => ({ idd: 1 })', "Type '{ readonly idd: 1; }' is missing"],
  ['one, () => ({ id: 1 })', "Property 'lines' is missing"],
  ["one, () => ({ id: 'a', lines: [] })", "'string' is not assignable to type 'number'"],
  ['one, () => ({ id: 1, lines: [], hash: 2 })', `'Undeclared<"hash">'`],
  ["one, async () => ({ id: 1, lines: [{ sku: 'a', hash: 2 }] })", `'Undeclared<"hash">'`],
  ['one, () => row', `'Undeclared<"passwordHash">'`],
  ['one, (ctx) => ctx.json({ id: 1, lines: [], hash: 2 })', "'hash' does not exist in type"],
  ['one, (ctx) => ctx.json({ id: 1 })', "Property 'lines' is missing"],
  ['one, () => {}', "'void' is not assignable to type '{ readonly id: number;"],
  ['one, (ctx) => { ctx.json({ id: 1, lines: [] }); }', "'void' is not assignable to type"],
  ['pass, one, () => ({ id: 1 })', "Property 'lines' is missing"],
  ['pass, one, pass, pass, () => ({ id: 1 })', "Property 'lines' is missing"],
  ["router.route('GET', '/x', one, () => ({ id: 1 }))", 'No overload matches'],
  ["taken, (ctx) => ctx.fail('OTHER')", `'"OTHER"' is not assignable to type '"`],
  ["taken, (ctx) => ctx.fail('TAKEN')", 'Source has 1 element(s) but target requires 2'],
  ["taken, (ctx) => ctx.fail('TAKEN', { id: 7 })", "Property 'lines' is missing"],
  ["taken, (ctx) => ctx.fail('USED', { id: 7 })", "'id' does not exist in type"],
  ["taken, (ctx) => ctx.fail('A', { detail: 7 })", "'number' is not assignable to type 'string'"],
  ["(ctx) => ctx.fail('STALE')", `'"STALE"' is not assignable to parameter of type 'never'`],
  [
    "router.group('/g', (group) => group.get('/x', one, () => ({ id: 1 })))",
    "Property 'lines' is missing",
  ],
  [
    "router.group('/g', one, (group) => group.get('/x', endpoint({ summary: 'a' }), () => ({ id: 1 })))",
    "Property 'lines' is missing",
  ],
];

describe('a program', () => {
  test('exports a router and a route with a contract, with declarations', async () => {
    expect((await compile(START)).errors).toEqual([]);
  });

  test('has one error for each wrong route', async () => {
    const calls = WRONG.map(([route]) =>
      route.startsWith('router.') ? `${route};` : `router.get('/x', ${route});`,
    );

    const { errors } = await compile(START + calls.join('\n'));

    expect(errors).toHaveLength(WRONG.length);
    for (const [at, [route, message]] of WRONG.entries()) {
      expect(errors[at], route).toContain(message);
      if (!route.includes('.route(')) expect(errors[at], route).not.toContain('overload');
    }
  });
});

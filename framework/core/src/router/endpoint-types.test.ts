import { fileURLToPath } from 'node:url';

import { describe, expect, expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { createRouter } from './create-router.ts';
import { endpoint } from './endpoint.ts';
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

const START = `
import { createRouter, endpoint } from ${JSON.stringify(fileURLToPath(new URL('./index.ts', import.meta.url)))};
import type { StandardSchema } from ${JSON.stringify(fileURLToPath(new URL('../schema/index.ts', import.meta.url)))};
interface Order { id: number; lines: { sku: string }[] }
declare const Order: StandardSchema<unknown, Order>;
declare const row: Order & { passwordHash: string };
declare const pass: (ctx: unknown, next: () => Promise<void>) => unknown;
const one = endpoint({ responses: { 200: Order } });
export const router = createRouter();
export const chained = createRouter({ prefix: '/x' }).get('/', one, () => row as Order);
`;

const WRONG: readonly [route: string, ...message: string[]][] = [
  [
    "router.get('/x', one, () => ({ idd: 1 }))",
    "Type '{ readonly idd: 1; }' is missing",
    'id, lines',
  ],
  ["router.get('/x', one, () => ({ id: 1 }))", "Property 'lines' is missing"],
  [
    "router.get('/x', one, () => ({ id: 'a', lines: [] }))",
    "'string' is not assignable to type 'number'",
  ],
  ["router.get('/x', one, () => ({ id: 1, lines: [], hash: 2 }))", `'Undeclared<"hash">'`],
  [
    "router.get('/x', one, async () => ({ id: 1, lines: [{ sku: 'a', hash: 2 }] }))",
    `'Undeclared<"hash">'`,
  ],
  ["router.get('/x', one, async () => ({ idd: 1 }))", "Type '{ readonly idd: 1; }' is missing"],
  ["router.get('/x', one, () => row)", `'Undeclared<"passwordHash">'`],
  [
    "router.get('/x', one, (ctx) => ctx.json({ id: 1, lines: [], hash: 2 }))",
    "'hash' does not exist in type",
  ],
  ["router.get('/x', one, (ctx) => ctx.json({ id: 1 }))", "Property 'lines' is missing"],
  ["router.get('/x', one, () => {})", "'void' is not assignable to type '{ readonly id: number;"],
  ["router.get('/x', one, async () => {})", "'void' is not assignable to type"],
  [
    "router.get('/x', one, (ctx) => { ctx.json({ id: 1, lines: [] }); })",
    "'void' is not assignable to type",
  ],
  ["router.get('/x', pass, one, () => ({ id: 1 }))", "Property 'lines' is missing"],
  ["router.get('/x', pass, one, pass, () => ({ id: 1 }))", "Property 'lines' is missing"],
  ["router.get('/x', pass, one, pass, pass, () => ({ id: 1 }))", "Property 'lines' is missing"],
  ["router.route('GET', '/x', one, () => ({ id: 1 }))", 'No overload matches'],
  [
    "router.group('/g', (group) => group.get('/x', one, () => ({ id: 1 })))",
    "Property 'lines' is missing",
  ],
];

describe('a program', () => {
  test('exports a router and a route with a contract, with declarations', async () => {
    expect((await compile(START)).errors).toEqual([]);
  });

  test.each(WRONG)('%s does not compile', async (route, ...message) => {
    const { errors } = await compile(`${START}\n${route};`);

    expect(errors).toHaveLength(1);
    for (const part of message) expect(errors[0]).toContain(part);
    if (!route.includes('.route(')) expect(errors[0]).not.toContain('overload');
  });
});

import { afterEach, describe, expect, test, vi } from 'vitest';
import { z } from 'zod';

import { createApp } from '../application.ts';
import type { Context } from '../context.ts';
import { violationOf } from '../extension.ts';
import { createRouter } from '../router/router.ts';
import { recordLog, request } from '../testing/index.ts';
import { createContract, createPartSerializer } from './contract.ts';

const Order = z.object({ id: z.number() });

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each<readonly [string, boolean, Record<string, unknown>]>([
  ['a successful response', true, { 200: Order }],
  ['a successful response and an error', true, { 200: Order, 404: Order }],
  ['an error only', false, { 404: Order }],
  ['an error, and a success without a schema', false, { 204: undefined, 404: Order }],
  ['no response', false, {}],
])('the schema of %s makes a contract: %s', (_, isContract, schemas) => {
  expect(createContract(schemas) !== undefined).toBe(isContract);
});

test('a schema is checked in its output form', () => {
  const jsonSchema = { input: () => ({ type: 'string' }), output: () => ({ type: 'number' }) };
  const schema = {
    '~standard': { version: 1, vendor: 'x', validate: (value: unknown) => ({ value }), jsonSchema },
  };

  expect(createPartSerializer(schema)({} as Context, 7)).toBe('7');
});

/** Sends a request whose handler serializes `part`, in a route or outside of one. */
async function serialize(
  part: unknown,
  { name = undefined as string | undefined, path = '' } = {},
) {
  const serializePart = createPartSerializer(Order, name);
  const { logger, problems, errors } = recordLog();
  const violations: unknown[] = [];
  const app = createApp({ logger }).use(async (ctx, next) => {
    await next().finally(() => violations.push(violationOf(ctx)));
  });
  const handler = (ctx: Parameters<typeof serializePart>[0]) => ctx.send(serializePart(ctx, part));
  app.use(path === '' ? handler : createRouter().get(path, handler).routes());
  const send = () => request(app, '/orders/7');
  const response = await send();
  return { response, text: await response.text(), send, problems, errors, violations };
}

describe('a part of a response', () => {
  test('has the declared fields only', async () => {
    const { text, violations } = await serialize({ id: 1, passwordHash: 'x' });

    expect(text).toBe('{"id":1}');
    expect(violations).toEqual([undefined]);
  });

  test.each<readonly [string, { name?: string; path?: string }, string]>([
    [
      'its name and its route',
      { name: 'Event "a"', path: '/orders/:id' },
      'Event "a" of GET /orders/:id',
    ],
    ['the response, if it has no name', { path: '/orders/:id' }, 'Response 200 of GET /orders/:id'],
    [
      'the path of the request outside of a route',
      { name: 'Event "a"' },
      'Event "a" of GET /orders/7',
    ],
  ])('that breaks its contract is a 500, and the error has %s', async (_, options, subject) => {
    const { response, errors, violations } = await serialize({}, options);

    expect(response.status).toBe(500);
    expect(errors).toEqual([new TypeError(`${subject} breaks its contract: "/id" is missing`)]);
    expect(errors[0]).not.toHaveProperty('cause');
    expect(violations).toEqual([{ status: 200, pointer: '/id', problem: 'is missing' }]);
  });

  test('that breaks its contract is sent in production, and logged once', async () => {
    vi.stubEnv('NODE_ENV', 'production');
    const { text, send, problems } = await serialize({}, { name: 'Event "a"' });

    await send();

    expect(text).toBe('{}');
    expect(problems).toEqual([
      'warn: Event "a" of GET /orders/7 breaks its contract: "/id" is missing; further violations are only counted',
    ]);
  });

  test('without a JSON form is null in production', async () => {
    vi.stubEnv('NODE_ENV', 'production');

    expect((await serialize(undefined)).text).toBe('null');
  });
});

test.each<readonly [string, string | undefined]>([
  ['response 200', undefined],
  ['Event "a"', 'Event "a"'],
])('the error of a schema without a JSON form names %s', (part, name) => {
  expect(() => createPartSerializer(z.custom(), name)).toThrow(
    expect.objectContaining({
      message: expect.stringContaining(`the schema of ${part} cannot be checked: `),
      cause: expect.any(TypeError),
    }),
  );
});

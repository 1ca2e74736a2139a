import { createRouter } from '@fw/core';
import { sse } from '@fw/middleware/sse';
import { validate as validateDocument } from '@hyperjump/json-schema/openapi-3-2';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { generateDocument } from './index.ts';

const Price = z.object({ cents: z.int() }).meta({ id: 'Price' });
const never = async function* () {};

function pricesRouter(price: z.ZodType = Price) {
  return createRouter()
    .get('/prices', sse({ price, closed: z.string() }, never))
    .get('/texts', sse(never))
    .get('/done', sse({ done: z.boolean() }, never))
    .query('/prices', (ctx) => ctx.json([]));
}

const eventOf = (name: string, contentSchema: object) => ({
  type: 'object',
  required: ['event', 'data'],
  properties: {
    event: { const: name },
    data: { type: 'string', contentMediaType: 'application/json', contentSchema },
    id: { type: 'string' },
  },
});

test('an OpenAPI 3.2 document describes each event of a stream, and QUERY', async () => {
  const document = await generateDocument(pricesRouter().getRoutes(), { openapi: '3.2' });

  expect(document.openapi).toBe('3.2.0');
  expect(Object.keys(document.paths['/prices'] ?? {})).toEqual(['get', 'query']);
  const contentOf = (path: string) =>
    Object(document.paths[path]?.get?.responses['200']).content['text/event-stream'];
  expect(contentOf('/prices')).toEqual({
    itemSchema: {
      oneOf: [
        eventOf('price', { $ref: '#/components/schemas/Price' }),
        eventOf('closed', { type: 'string' }),
      ],
    },
  });
  expect(contentOf('/done')).toEqual({ itemSchema: eventOf('done', { type: 'boolean' }) });
  expect(contentOf('/texts')).toEqual({ itemSchema: {} });
  expect(document.components.schemas?.Price).toMatchObject({ required: ['cents'] });
});

test('an OpenAPI 3.1 document, the default, omits event streams', async () => {
  const document = await generateDocument(pricesRouter().getRoutes());

  expect(document.openapi).toBe('3.1.1');
  expect(Object.keys(document.paths)).toEqual(['/prices']);
  expect(Object.keys(document.paths['/prices'] ?? {})).toEqual(['x-query']);
  expect(document.components.schemas?.Price).toBeUndefined();
});

test('an OpenAPI 3.2 document fits the official schema', async () => {
  const document = await generateDocument(pricesRouter().getRoutes(), { openapi: '3.2' });

  const { valid } = await validateDocument(
    'https://spec.openapis.org/oas/3.2/schema-base',
    JSON.parse(JSON.stringify(document)),
  );

  expect(valid).toBe(true);
});

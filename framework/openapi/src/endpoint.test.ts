import { createRouter, endpoint } from '@fw/core';
import { forms } from '@fw/middleware/forms';
import { expect, test } from 'vitest';
import { z } from 'zod';

import { generateDocument } from './document.ts';
import { describeRoute } from './testing/describe-route.ts';

test('endpoint() describes the operation, its request and its responses', async () => {
  const described = {
    operationId: 'changeThing',
    summary: 'Change a thing',
    description: 'By *id*',
    tags: ['things'],
    deprecated: true,
    security: [{ token: [] }],
  };

  const { operation, components } = await describeRoute(
    'PATCH /things/:id',
    endpoint({
      ...described,
      reads: {
        body: z.object({ name: z.string() }),
        headers: z.object({ 'if-match': z.string() }),
      },
      bodyTypes: ['application/merge-patch+json'],
      responses: {
        200: { schema: z.object({ id: z.string() }), headers: { ETag: 'Its state' } },
        304: {},
        409: { description: 'The name exists' },
      },
    }),
  );

  expect(operation).toMatchObject({
    ...described,
    parameters: [{ in: 'path' }, { in: 'header', name: 'if-match', required: true }],
    requestBody: {
      required: true,
      content: { 'application/merge-patch+json': { schema: { required: ['name'] } } },
    },
    responses: {
      200: {
        headers: { ETag: { $ref: '#/components/headers/ETag' } },
        content: { 'application/json': { schema: { required: ['id'] } } },
      },
      304: { description: 'Not Modified' },
      409: { $ref: '#/components/responses/Conflict' },
    },
  });
  expect(components.responses?.Conflict).toMatchObject({ description: 'The name exists' });
});

test('the body types of endpoint() replace those of a parser before or after it', async () => {
  const declared = endpoint({ bodyTypes: ['multipart/form-data'] });
  const parse = forms({ multipart: {} });
  const router = createRouter()
    .post('/before', declared, parse, () => {})
    .post('/after', parse, declared, () => {})
    .group('/group', declared, (group) => {
      group.post('/', parse, () => {});
    });

  const { paths } = await generateDocument(router.getRoutes());

  const types = Object.values(paths).map(({ post }) =>
    Object.keys(post?.requestBody?.content ?? {}),
  );
  expect(types).toEqual(Array(3).fill(['multipart/form-data']));
});

test('the option toJsonSchema precedes the converter of the library and may return undefined', async () => {
  const known = z.string();
  const other = z.object({ known });
  const router = createRouter().get(
    '/u',
    endpoint({ reads: { query: other }, responses: { 200: other, 201: known } }),
    () => 'text',
  );
  const calls: unknown[] = [];

  const { paths } = await generateDocument(router.getRoutes(), {
    toJsonSchema(...call) {
      calls.push(call);
      return call[0] === known ? { title: call[1] } : undefined;
    },
  });

  const schemaOf = (schema: object) => ({ content: { 'application/json': { schema } } });
  expect(paths['/u']?.get?.responses).toMatchObject({
    200: schemaOf({ properties: { known: { type: 'string' } } }),
    201: schemaOf({ title: 'output' }),
  });
  expect(calls).toEqual([
    [other, 'input'],
    [other, 'output'],
    [known, 'output'],
  ]);
});

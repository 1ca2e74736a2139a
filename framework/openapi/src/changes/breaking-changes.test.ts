import { describe, expect, test } from 'vitest';

import { findBreakingChanges } from './breaking-changes.ts';

const COMPONENTS = {
  schemas: {
    Tree: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { items: { $ref: '#/components/schemas/Tree' } },
      },
    },
    Named: { type: 'object', properties: { name: { type: 'string' } } },
  },
};

interface Operation {
  readonly body?: unknown;
  readonly response?: unknown;
  readonly [field: string]: unknown;
}

/** A document with `POST /items`. */
function documentOf({ body, response, ...operation }: Operation, components: object = COMPONENTS) {
  const contentOf = (schema: unknown) => ({ content: { 'application/json': { schema } } });
  const post = {
    ...(body !== undefined && { requestBody: contentOf(body) }),
    responses: { 200: response === undefined ? {} : contentOf(response) },
    ...operation,
  };
  return { openapi: '3.1.1', paths: { '/items': { post } }, components };
}

function compare(before: Operation, after: Operation): string[] {
  const found = findBreakingChanges(documentOf(before), documentOf(after));
  return found.flatMap(({ changes }) => changes);
}

const NODE = { $ref: '#/components/schemas/Tree' };

describe('a request may accept more values, a response may contain fewer', () => {
  test.each([
    ['minimum', { minimum: 2 }, { minimum: 1 }],
    ['exclusiveMinimum', { exclusiveMinimum: 1 }, { exclusiveMinimum: 0 }],
    ['a minimum above an exclusive one', { minimum: 1 }, { exclusiveMinimum: 0 }],
    ['maximum', { maximum: 1 }, {}],
    ['exclusiveMaximum', { exclusiveMaximum: 9 }, { maximum: 9 }],
    ['format', { type: 'string', format: 'date' }, { type: 'string' }],
    ['a wider format', { type: 'integer', format: 'int32' }, { type: 'integer', format: 'int64' }],
    ['multipleOf', { multipleOf: 4 }, { multipleOf: 2 }],
    ['maxItems', { type: 'array', maxItems: 2 }, { type: 'array', maxItems: 3 }],
    ['uniqueItems', { type: 'array', uniqueItems: true }, { type: 'array' }],
    ['minProperties', { type: 'object', minProperties: 1 }, { type: 'object' }],
    [
      'items',
      { type: 'array', items: { type: 'integer' } },
      { type: 'array', items: { type: 'number' } },
    ],
    ['any value', { type: 'string' }, {}],
    ['null', { type: 'string' }, { oneOf: [{ type: 'string' }, { type: 'null' }] }],
    ['an enum', { type: 'string', enum: ['a'] }, { type: 'string' }],
    ['a constant', { const: 'a' }, { enum: ['a', 'b'] }],
    ['allOf', { allOf: [NODE, { required: ['name'] }] }, NODE],
    [
      'values of a map',
      { additionalProperties: { type: 'integer' } },
      { additionalProperties: {} },
    ],
    ['not', { not: { type: 'null' } }, {}],
  ])('%s', (_title, narrow, wide) => {
    expect(compare({ body: narrow }, { body: wide })).toEqual([]);
    expect(compare({ response: wide }, { response: narrow })).toEqual([]);
    expect(compare({ body: wide }, { body: narrow })).toHaveLength(1);
    expect(compare({ response: narrow }, { response: wide })).toHaveLength(1);
  });
});

test.each([
  [
    'type lists',
    { type: ['string', 'null'], maxLength: 3 },
    { anyOf: [{ type: 'null' }, { type: 'string', maxLength: 3 }] },
  ],
  [
    'formats',
    { type: ['string', 'null'], format: 'date' },
    { anyOf: [{ type: 'string', format: 'date' }, { type: 'null' }] },
  ],
  ['references', { $ref: '#/components/schemas/Named' }, COMPONENTS.schemas.Named],
  [
    'allOf',
    { type: 'string', minLength: 1, pattern: 'a' },
    { allOf: [{ type: 'string', minLength: 1 }, { pattern: 'a' }] },
  ],
  ['recursive references', NODE, { allOf: [NODE] }],
  ['sizes of 0', { type: 'string', minLength: 0 }, { type: 'string' }],
  ['closed and open values', true, {}],
  ['no value', false, { not: {} }],
])('different notations of a schema are equal: %s', (_title, one, other) => {
  for (const [before, after] of [
    [one, other],
    [other, one],
  ]) {
    expect(compare({ body: before, response: before }, { body: after, response: after })).toEqual(
      [],
    );
  }
});

test('a change of a recursive schema is reported once, where it is first used', () => {
  const changed = structuredClone(COMPONENTS);
  changed.schemas.Tree.properties.name.type = 'integer';

  const [found] = findBreakingChanges(
    documentOf({ body: NODE }),
    documentOf({ body: NODE }, changed),
  );

  expect(found).toEqual({
    operation: 'POST /items',
    changes: ['request body application/json name: type changed from string to integer'],
  });
});

test.each([
  ['explode: false', { explode: false }, 1],
  ['the defaults', { style: 'form', explode: true }, 0],
])('a query parameter with %s differs from one without', (_title, format, count) => {
  const ids = { name: 'ids', in: 'query', schema: { type: 'array' } };

  const changes = compare({ parameters: [ids] }, { parameters: [{ ...ids, ...format }] });

  expect(changes).toHaveLength(count);
});

test('a range of statuses may become one of them', () => {
  expect(compare({ responses: { '2XX': {} } }, { responses: { 201: {} } })).toEqual([]);
  expect(compare({ responses: { 201: {} } }, { responses: { '2XX': {} } })).toHaveLength(1);
});

test('another name of a security scheme and fewer scopes break no client', () => {
  const scheme = { type: 'oauth2', flows: {} };
  const of = (name: string, scopes: string[]) =>
    documentOf({ security: [{ [name]: scopes }] }, { securitySchemes: { [name]: scheme } });

  expect(findBreakingChanges(of('one', ['read', 'write']), of('two', ['read']))).toEqual([]);
  expect(findBreakingChanges(of('one', ['read']), of('one', ['read', 'write']))).toHaveLength(1);
});

test.each([undefined, {}, { openapi: '3.1.1' }, 'text'])('%j is not a document', (value) => {
  expect(() => findBreakingChanges(documentOf({}), value)).toThrow(
    'Cannot compare documents: expected two OpenAPI documents with "paths"',
  );
});

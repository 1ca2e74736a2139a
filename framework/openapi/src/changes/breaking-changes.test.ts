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
    Branch: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        children: { items: { $ref: '#/components/schemas/Leaf' } },
      },
    },
    Leaf: { type: 'object', properties: { name: { type: 'string' }, size: {} } },
  },
  parameters: { Page: { name: 'page', in: 'query', schema: { type: 'string' } } },
  securitySchemes: {
    token: { type: 'http', scheme: 'bearer' },
    oauth: { type: 'oauth2', flows: {} },
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
  test.each<readonly [string, object, object]>([
    ['minimum', { minimum: 2 }, { minimum: 1 }],
    ['exclusiveMinimum', { exclusiveMinimum: 1 }, { exclusiveMinimum: 0 }],
    ['a minimum above an exclusive one', { minimum: 1 }, { exclusiveMinimum: 0 }],
    ['a minimum that is also exclusive', { exclusiveMinimum: 1 }, { minimum: 1 }],
    ['maximum', { maximum: 1 }, {}],
    ['a maximum below an exclusive one', { maximum: 1 }, { exclusiveMaximum: 2 }],
    ['exclusiveMaximum', { exclusiveMaximum: 9 }, { maximum: 9 }],
    ['format', { type: 'string', format: 'date' }, { type: 'string' }],
    ['a wider format', { type: 'integer', format: 'int32' }, { type: 'integer', format: 'int64' }],
    ['a wider number format', { format: 'float' }, { format: 'double' }],
    ['multipleOf', { multipleOf: 4 }, { multipleOf: 2 }],
    ['minLength', { type: 'string', minLength: 2 }, { type: 'string', minLength: 1 }],
    ['maxLength', { type: 'string', maxLength: 2 }, { type: 'string', maxLength: 3 }],
    ['maxItems', { type: 'array', maxItems: 2 }, { type: 'array', maxItems: 3 }],
    ['uniqueItems', { type: 'array', uniqueItems: true }, { type: 'array' }],
    ['maxItems of a set', { uniqueItems: true, maxItems: 2 }, { uniqueItems: true }],
    ['minProperties', { type: 'object', minProperties: 1 }, { type: 'object' }],
    ['maxProperties', { type: 'object', maxProperties: 1 }, { type: 'object', maxProperties: 2 }],
    ['a limit in two parts', { allOf: [{ minimum: 3 }, { minimum: 1 }] }, { minimum: 2 }],
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
    ...[
      'if then else pattern contentEncoding contentMediaType prefixItems contains minContains',
      'maxContains unevaluatedItems patternProperties propertyNames dependentRequired',
      'dependentSchemas unevaluatedProperties',
    ].flatMap((keywords) => keywords.split(' ').map((name) => [name, { [name]: 1 }, {}] as const)),
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
  ['uniqueItems: false', { type: 'array', uniqueItems: false }, { type: 'array' }],
  ['the order of keys', { enum: [{ a: 1, b: [2] }] }, { enum: [{ b: [2], a: 1 }] }],
  [
    'a property in two parts',
    { properties: { name: { type: 'string', minLength: 1 } } },
    {
      allOf: [
        { properties: { name: { type: 'string' } } },
        { properties: { name: { minLength: 1 } } },
      ],
    },
  ],
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

const STRING = { type: 'string' };
const INTEGER = { type: 'integer' };
const TYPE_CHANGE = 'type changed from string to integer';
const BRANCH = { $ref: '#/components/schemas/Branch' };
const both = (change: string) => [change, change] as const;
const A = { properties: { a: {} } };

test.each<[string, unknown, unknown, inRequest?: string | null, inResponse?: string]>([
  ['type', STRING, INTEGER, ...both(TYPE_CHANGE)],
  ['types', { type: ['string', 'null'] }, STRING, 'type changed from string or null to string'],
  ['missing schema', true, STRING, 'type changed from any to string'],
  ['schema without values', STRING, false, 'type changed from string to none'],
  ['default', { default: { b: 1, a: 2 } }, {}, 'default changed from {"a":2,"b":1} to none'],
  ['missing default', {}, { default: 1 }],
  ['list of values', { enum: [1, 2, 3] }, { enum: [1] }, 'the value 2, 3 is removed'],
  ['short list of values', { enum: ['a'] }, { enum: ['a', 'b'] }, null, 'the value "b" is added'],
  ['missing list of values', STRING, { enum: ['a'] }, 'enum changed from none to ["a"]'],
  ['upper limit', { maximum: 9 }, { maximum: 5 }, 'maximum changed from 9 to 5'],
  ['lower limit', { minimum: 9 }, { minimum: 5 }, null, 'minimum changed from 9 to 5'],
  ['first limit', { allOf: [{ maximum: 9 }, {}] }, { maximum: 5 }, 'maximum changed from 9 to 5'],
  [
    'limit without alternatives',
    { maximum: 9 },
    { anyOf: [{ maximum: 8, multipleOf: 2 }, { maximum: 7 }, { maximum: 6 }] },
    'maximum changed from 9 to 7',
  ],
  [
    'limit of one type',
    { type: ['string', 'integer'] },
    { type: ['string', 'integer'], maxLength: 3 },
    'maxLength changed from none to 3',
  ],
  [
    'tuple',
    { prefixItems: [1] },
    { prefixItems: [2] },
    ...both('prefixItems changed from [1] to [2]'),
  ],
  ['item', { items: STRING }, { items: INTEGER }, ...both(`[]: ${TYPE_CHANGE}`)],
  [
    'field of an item of a field',
    { properties: { a: { items: { properties: { b: { maximum: 2 } } } } } },
    { properties: { a: { items: { properties: { b: { maximum: 1 } } } } } },
    'a[].b: maximum changed from 2 to 1',
  ],
  [
    'value of a map',
    { properties: { a: { additionalProperties: { maximum: 2 } } } },
    { properties: { a: { additionalProperties: { maximum: 1 } } } },
    'a.*: maximum changed from 2 to 1',
  ],
  ['optional field', A, { ...A, required: ['a'] }, 'a: becomes required'],
  ['missing field', A, { required: ['b'], ...A }, 'b: is new and required'],
  [
    'required field',
    { properties: { a: {}, b: {} }, required: ['a', 'b'] },
    { properties: { a: {}, b: {} }, required: ['b'] },
    null,
    'a: can be absent',
  ],
  ['required field', { ...A, required: ['a'] }, {}, ...both('a: is removed')],
  ['open object', {}, { additionalProperties: false }, 'rejects other fields'],
  ['closed object', { additionalProperties: false }, {}],
  ['recursive schema', NODE, BRANCH, ...both('children[].children: is removed')],
  ['schema that is not recursive', BRANCH, NODE, ...both('children[].size: is removed')],
])(
  'the change of the %s from %j to %j is reported with its field',
  (_, before, after, ...lines) => {
    const [inRequest, inResponse] = lines;
    const where = /^(request body|response 200) application\/json(: | )/;
    const change = (line: string) => line.replace(where, '');

    const requests = compare({ body: before }, { body: after });
    const responses = compare({ response: before }, { response: after });

    expect(requests.map(change)).toEqual(inRequest ? [inRequest] : []);
    expect(responses.map(change)).toEqual(inResponse ? [inResponse] : []);
  },
);

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

/** An operation with parameters in one place. */
function parametersIn(place: string, parameters: Readonly<Record<string, object>>): Operation {
  const list = Object.entries(parameters).map(([name, fields]) => ({ name, in: place, ...fields }));
  return { parameters: list };
}

const sends = (headers: object) => ({ responses: { 200: { headers } } });
const content = (type: string, schema: object) => ({ content: { [type]: { schema } } });
const withCodes = (codes: string[], members = {}) => ({
  allOf: [{ properties: { code: STRING } }, { properties: { code: { enum: codes }, ...members } }],
});
const problems = (...oneOf: object[]) => ({
  responses: { 409: content('application/problem+json', { oneOf }) },
});
const REQUIRED = { required: true };
const EXPLODE = { explode: true };

test.each<[string, Operation, Operation, changes: string[]]>([
  ['a new optional body', {}, { body: {} }, []],
  ['a new body', {}, { requestBody: REQUIRED }, ['request body: is new and required']],
  ['a body', { requestBody: {} }, { requestBody: REQUIRED }, ['request body: becomes required']],
  ['a required body', { requestBody: REQUIRED }, { requestBody: REQUIRED }, []],
  [
    'media types',
    { requestBody: content('text/csv', {}), responses: { 200: content('text/html', {}) } },
    { requestBody: content('text/plain', {}), responses: { 200: content('text/plain', {}) } },
    ['request body text/csv: is removed', 'response 200 text/html: is removed'],
  ],
  [
    'statuses',
    { responses: { 200: {}, 201: {}, '4XX': {}, '5XX': {} } },
    { responses: { 200: {}, '2XX': {}, 503: {} } },
    ['response 201: is removed', 'response 4XX: is removed'],
  ],
  [
    'the statuses of a range',
    { responses: { '2XX': content('text/csv', STRING) } },
    { responses: { 200: content('text/csv', STRING), 201: content('text/csv', INTEGER) } },
    [`response 201 text/csv: ${TYPE_CHANGE}`],
  ],
  [
    'the codes of a problem',
    problems(withCodes(['A', 'B', 'C']), withCodes(['D'], { d: STRING })),
    problems(withCodes(['A', 'E']), withCodes(['B'], { b: {} }), withCodes(['D'], { d: INTEGER })),
    [
      'response 409 application/problem+json: the code "C" is removed',
      `response 409 application/problem+json d: ${TYPE_CHANGE}`,
    ],
  ],
  [
    'a problem that had any code',
    problems({ properties: { code: STRING } }),
    problems(withCodes(['A'], { a: {} })),
    [],
  ],
  [
    'response headers',
    sends({ A: REQUIRED, B: REQUIRED, C: {}, D: { schema: STRING }, E: {} }),
    sends({ a: REQUIRED, b: {}, c: REQUIRED, d: { schema: INTEGER }, F: {} }),
    [
      'response 200 header B: can be absent',
      `response 200 header D: ${TYPE_CHANGE}`,
      'response 200 header E: is removed',
    ],
  ],
  [
    'query parameters',
    parametersIn('query', { a: REQUIRED, b: {}, c: {}, d: EXPLODE, e: {} }),
    parametersIn('query', { a: {}, b: REQUIRED, d: { style: 'form' }, e: {}, f: REQUIRED, g: {} }),
    [
      'query parameter f: is new and required',
      'query parameter b: becomes required',
      'query parameter c: is removed',
    ],
  ],
  [
    'cookies',
    parametersIn('cookie', { a: content('text/csv', STRING), b: {} }),
    parametersIn('cookie', { a: content('text/csv', INTEGER), b: { explode: false } }),
    [
      `cookie parameter a: ${TYPE_CHANGE}`,
      'cookie parameter b: style changed from form with explode to form',
    ],
  ],
  [
    'a shared parameter',
    { parameters: [{ $ref: '#/components/parameters/Page' }] },
    parametersIn('query', { page: { schema: INTEGER } }),
    [`query parameter page: ${TYPE_CHANGE}`],
  ],
  [
    'request headers',
    parametersIn('header', { 'If-Match': REQUIRED, Tenant: {}, Ids: {} }),
    parametersIn('header', { 'if-match': REQUIRED, Ids: EXPLODE }),
    [
      'request header Tenant: is removed',
      'request header Ids: style changed from simple to simple with explode',
    ],
  ],
  ['security', {}, { security: [{ token: [] }] }, ['security changed from none to token http']],
  ['alternatives', { security: [{ token: [] }] }, { security: [{ oauth: [] }, { token: [] }] }, []],
  [
    'optional security',
    { security: [{ token: [] }, {}] },
    { security: [{ token: [] }] },
    ['security changed from token http or none to token http'],
  ],
  [
    'the schemes of security',
    { security: [{ token: [] }] },
    { security: [{ token: [], oauth: ['read', 'write'], other: [] }] },
    ['security changed from token http to token http and oauth oauth2 read write and other'],
  ],
])('a change of %s is reported if it breaks a client', (_title, before, after, changes) => {
  expect(compare(before, after)).toEqual(changes);
});

const ALL = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'x-query'];
const path = (schemas: Readonly<Record<string, object>>) => ({
  get: {},
  parameters: Object.entries(schemas).map(([name, schema]) => ({ name, in: 'path', schema })),
});

test.each<[string, object, object, [operation: string, change: string][]]>([
  [
    'operations',
    { paths: { '/a': Object.fromEntries(ALL.map((method) => [method, {}])) } },
    { paths: { '/a': { get: {} } } },
    ALL.slice(1).map((method) => [
      `${method.replace('x-', '').toUpperCase()} /a`,
      'the operation is removed',
    ]),
  ],
  [
    'paths',
    { paths: { '/a/{id}': { get: {} } } },
    { paths: { '/a/': { get: {} } } },
    [['GET /a/{id}', 'the operation is removed']],
  ],
  [
    'path parameters',
    { paths: { '/a/{id}/{of}/{name}': path({ id: STRING, of: STRING, name: STRING }) } },
    { paths: { '/a/{user}/{id}/{x}': path({ x: STRING, id: INTEGER, user: STRING }) } },
    [['GET /a/{id}/{of}/{name}', `path parameter of: ${TYPE_CHANGE}`]],
  ],
  [
    'base URLs',
    { servers: [{ url: 'https://a/v1' }, { url: 'https://b' }] },
    { servers: [{ url: 'https://b' }] },
    [['servers', 'the base URL https://a/v1 is removed']],
  ],
  [
    'the default base URL',
    {},
    { servers: [{ url: '/a' }] },
    [['servers', 'the base URL / is removed']],
  ],
  ['the notation of the base URL', { servers: [] }, { servers: [{ url: '/' }] }, []],
])('a change of %s is reported with the operation', (_title, before, after, changes) => {
  const found = findBreakingChanges(
    { openapi: '3.1.1', paths: {}, ...before },
    { openapi: '3.1.1', paths: {}, ...after },
  );

  expect(found).toEqual(changes.map(([operation, change]) => ({ operation, changes: [change] })));
});

test('another name of a security scheme and fewer scopes break no client', () => {
  const scheme = { type: 'oauth2', flows: {} };
  const of = (name: string, scopes: string[]) =>
    documentOf({ security: [{ [name]: scopes }] }, { securitySchemes: { [name]: scheme } });

  expect(findBreakingChanges(of('one', ['read', 'write']), of('two', ['read']))).toEqual([]);
  expect(findBreakingChanges(of('one', ['read']), of('one', ['read', 'write']))).toHaveLength(1);
});

test.each([undefined, {}, { openapi: '3.1.1' }, { openapi: 3, paths: {} }, 'text'])(
  '%j is not a document',
  (value) => {
    expect(() => findBreakingChanges(documentOf({}), value)).toThrow(
      'Cannot compare documents: expected two OpenAPI documents with "paths"',
    );
  },
);

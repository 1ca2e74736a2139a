import { once } from 'node:events';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { json } from '@fw/body-parser';
import { quiet, recordLog, request } from '@fw/core/testing';
import { sse } from '@fw/middleware/sse';
import { timeout } from '@fw/middleware/timeout';
import { rateLimit } from '@fw/rate-limit';
import { validate } from '@fw/validation';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type Application,
  annotate,
  type Context,
  createApp,
  createRouter,
  type EndpointOptions,
  endpoint,
  errorHandler,
  listen,
  type Middleware,
  NotFoundError,
  notFoundHandler,
  type Router,
  UnauthorizedError,
} from 'fw';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { z } from 'zod';

import { type McpOptions, mcp } from './mcp.ts';

const streams = createRouter()
  .get(
    '/events',
    endpoint({ operationId: 'watch' }),
    sse(async function* () {}),
  )
  .get(
    '/chat',
    endpoint({ operationId: 'chat' }),
    annotate(() => undefined, { responses: { 101: {} } }),
  )
  .get('/end', endpoint({ operationId: 'end' }), () => '');

const Item = z
  .object({
    id: z.string(),
    name: z.string(),
    get parent() {
      return Item.optional();
    },
  })
  .meta({ id: 'Item' });
const ItemId = z.object({ id: z.string().max(40).describe('The id of the item') });
const ListQuery = z.object({
  limit: z.coerce.number().int().min(1).max(100).default(20),
  tag: z.union([z.string(), z.array(z.string())]).optional(),
});
const READ = { summary: 'Read an item', description: 'By its id.' };
const CreateHeaders = z.object({
  'idempotency-key': z.string().optional(),
  'x-user-id': z.string().optional(),
});

const requireToken: Middleware = (ctx, next) => {
  const id = /^Bearer (.+)$/.exec(ctx.get('authorization') ?? '')?.[1];
  if (id === undefined) throw new UnauthorizedError('Send a token');
  ctx.state.user = { id };
  return next();
};

/** Routes with each kind of parameter, body and response. */
function itemRoutes(): Router {
  const router = createRouter();
  const List = z.object({ data: z.array(Item), query: z.unknown() });
  router.get(
    '/',
    endpoint({ operationId: 'listItems', responses: { 200: List } }),
    validate({ query: ListQuery }),
    (ctx) => ({ data: [{ id: '1', name: 'One' }], query: ctx.query }),
  );
  router.get(
    '/:id',
    endpoint({ operationId: 'getItem', ...READ, responses: { 200: Item } }),
    validate({ params: ItemId }),
    (ctx) => {
      if (ctx.params.id !== '1') throw new NotFoundError(`Item "${ctx.params.id}" not found`);
      return { id: '1', name: 'One' };
    },
  );
  router.get('/secret', endpoint({ operationId: 'secret', visibility: 'internal' }), () => 'no');
  router.query(
    '/',
    endpoint({ operationId: 'findItems', responses: { 200: z.object({ text: z.string() }) } }),
    validate({ body: z.object({ text: z.string() }) }),
    (ctx) => ctx.body,
  );
  router.post(
    '/',
    endpoint({ operationId: 'createItem', responses: { 201: Item } }),
    validate({ headers: CreateHeaders, body: z.object({ name: z.string().min(1) }) }),
    (ctx) => {
      ctx.status = 201;
      return { id: ctx.get('idempotency-key') ?? '2', name: ctx.body.name };
    },
  );
  router.put('/:id', endpoint({ operationId: 'replaceItem', deprecated: true }), () => '');
  router.delete('/:id', endpoint({ operationId: 'deleteItem' }), (ctx) => ctx.send(''));
  router.get('/files/*', endpoint({ operationId: 'readFile' }), (ctx) => `file ${ctx.params['*']}`);
  router.get(
    '/me',
    endpoint({ operationId: 'getMe' }),
    requireToken,
    rateLimit({ max: 2, window: '1h', keyGenerator: (ctx) => ctx.state.user?.id ?? '' }),
    ({ state, ip, requestId, headers }) => ({ user: state.user?.id, ip, requestId, headers }),
  );
  return router;
}

function createItemApp(options: Partial<McpOptions> = {}, router = itemRoutes()): Application {
  const app = createApp({ logger: quiet, trustProxy: 1 });
  app.use(errorHandler(), mcp({ router, ...options }), json());
  app.route('/items', router);
  return app.use(router.allowedMethods(), notFoundHandler());
}

const rpc = (method: string, params?: unknown) => ({ jsonrpc: '2.0', id: 1, method, params });
const call = (name: unknown, args?: unknown) => rpc('tools/call', { name, arguments: args });
const PING = rpc('ping');
const two = { name: 'Two' };
const deep = `{"body":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

/** Sends one message, as text or as JSON. */
async function post(app: Application, message: unknown, headers: Record<string, string> = {}) {
  const response = await request(app, '/mcp', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: typeof message === 'string' ? message : JSON.stringify(message),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text && JSON.parse(text) };
}

/** The result of a call of a tool: its text, parsed if it is JSON. */
async function resultOf(app: Application, message: object, headers?: Record<string, string>) {
  const { json: reply } = await post(app, message, headers);
  const { content, isError = false } = reply.result;
  const { text } = content[0];
  return { text, isError, value: /^[{[]/.test(text) ? JSON.parse(text) : text };
}

test('a client of the official SDK connects, lists the tools and calls them', async () => {
  const info = { title: 'Items', version: '2.0.0', description: 'Items to read.' };
  const { port, close } = await listen(createItemApp({ info }), 0);
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`)));
  onTestFinished(async () => {
    await client.close();
    await close();
  });

  expect(client.getServerVersion()).toMatchObject({ name: 'Items', version: '2.0.0' });
  expect(client.getInstructions()).toBe('Items to read.');
  const { tools } = await client.listTools(); // the client then checks results against the schemas
  const names = ['listItems', 'getItem', 'findItems', 'readFile', 'getMe'];
  expect(tools.map(({ name }) => name)).toEqual(names);
  expect(await client.callTool({ name: 'getItem', arguments: { id: '1' } })).toEqual({
    content: [{ type: 'text', text: '{"id":"1","name":"One"}' }],
    structuredContent: { id: '1', name: 'One' },
  });
  expect(await client.callTool({ name: 'getItem', arguments: { id: '9' } })).toMatchObject({
    isError: true,
  });
});

describe('tools', () => {
  /** The tools of `tools/list`, by name. */
  async function toolsOf(app: Application) {
    const { json: reply } = await post(app, rpc('tools/list'));
    return Object.fromEntries(
      reply.result.tools.map((tool: { name: string }) => [tool.name, tool]),
    );
  }

  test('a tool has a name, title, description and schemas without references to other documents', async () => {
    const { getItem, listItems } = await toolsOf(createItemApp());

    const $defs = { Item: expect.objectContaining({ required: ['id', 'name'] }) };
    expect(getItem).toEqual({
      name: 'getItem',
      title: 'Read an item',
      description: 'Read an item\n\nBy its id.',
      inputSchema: {
        type: 'object',
        properties: { id: { type: 'string', maxLength: 40, description: 'The id of the item' } },
        required: ['id'],
        additionalProperties: false,
      },
      outputSchema: expect.objectContaining({ type: 'object', required: ['id', 'name'], $defs }),
      annotations: { readOnlyHint: true, destructiveHint: false, idempotentHint: true },
    });
    expect(listItems.outputSchema.properties.data.items).toEqual({ $ref: '#/$defs/Item' });
    expect(JSON.stringify([getItem, listItems])).not.toContain('#/components');
  });

  test('other methods than GET and QUERY are tools if they are named', async () => {
    const names = ['createItem', 'replaceItem', 'deleteItem'];

    const found = await toolsOf(createItemApp({ tools: names }));

    const changes = { readOnlyHint: false, destructiveHint: true };
    expect(names.map((name) => found[name].annotations)).toEqual([
      { ...changes, idempotentHint: false },
      { ...changes, idempotentHint: true },
      { ...changes, idempotentHint: true },
    ]);
    expect(found.findItems.annotations.readOnlyHint).toBe(true);
    expect(found.createItem.inputSchema.required).toEqual(['body']);
    expect(found.replaceItem.description).toBe('Deprecated.\n\nPUT /items/{id}');
  });

  test.each<
    readonly [what: string, tools: NonNullable<McpOptions['tools']>, expected: readonly string[]]
  >([
    ['a name', ({ operationId }) => operationId === 'read', ['read']],
    [
      'all GET routes but one',
      ({ method, operationId }) => method === 'GET' && operationId !== 'read',
      ['list'],
    ],
    ['a tag', ({ tags }) => tags.includes('notes'), ['list', 'add']],
    ['a method', ({ method }) => method === 'POST', ['add']],
    ['a path', ({ path }) => path.endsWith('/:id'), ['read']],
    ['nothing, as a promise', (async () => true) as never, []],
  ])('a function selects %s', async (_what, tools, expected) => {
    const router = createRouter()
      .get('/', endpoint({ operationId: 'list', tags: ['notes'] }), () => '')
      .get('/:id', endpoint({ operationId: 'read' }), () => '')
      .post('/', endpoint({ operationId: 'add', tags: ['notes'] }), () => '');

    expect(Object.keys(await toolsOf(createItemApp({ tools }, router)))).toEqual(expected);
  });

  test('a function cannot select event streams, WebSockets and internal operations', async () => {
    const tools = () => true;

    expect(Object.keys(await toolsOf(createItemApp({ tools }, streams)))).toEqual(['end']);
    expect(await toolsOf(createItemApp({ tools }))).not.toHaveProperty('secret');
  });

  test('event streams and WebSockets are no tools', async () => {
    expect(Object.keys(await toolsOf(createItemApp({}, streams)))).toEqual(['end']);
  });

  test('equal names of parameters get a number, and other characters an underscore', async () => {
    const query = z.object({ id: z.string(), 'filter[name]': z.string(), body: z.string() });
    const router = createRouter().post(
      '/:id',
      endpoint({ operationId: 'change' }),
      validate({ query, body: z.object({}) }),
      (ctx) => ({ id: ctx.params.id, query: ctx.query, body: ctx.body }),
    );
    const app = createItemApp({ tools: ['change'] }, router);
    const args = { body: {}, id: 'a', id_2: 'b', filter_name_: 'c', body_2: 'd' };

    const { change } = await toolsOf(app);
    const { value } = await resultOf(app, call('change', args));

    expect(Object.keys(change.inputSchema.properties)).toEqual(Object.keys(args));
    expect(value).toEqual({
      id: 'a',
      query: { id: 'b', 'filter[name]': 'c', body: 'd' },
      body: {},
    });
  });

  test.each<readonly [what: string, responses: NonNullable<EndpointOptions['responses']>]>([
    ['a list', { 200: z.array(z.string()) }],
    ['one of two', { 200: z.object({}), 202: z.object({}) }],
    ['text', { 200: { schema: z.string(), mediaTypes: ['text/csv'] } }],
  ])('an operation whose success is %s has no output schema', async (_what, responses) => {
    const router = createRouter();
    router.get('/', endpoint({ operationId: 'get', responses }), (ctx) => ctx.json([]));

    expect((await toolsOf(createItemApp({}, router))).get).not.toHaveProperty('outputSchema');
  });

  test('tools are listed in pages of 50', async () => {
    const router = createRouter();
    for (let at = 0; at < 120; at++) {
      router.get(`/${at}`, endpoint({ operationId: `tool${at}` }), () => '');
    }
    const app = createItemApp({}, router);
    const pages = [undefined, '1', '2'].map((cursor) => post(app, rpc('tools/list', { cursor })));

    const results = (await Promise.all(pages)).map(({ json: { result } }) => result);

    expect(results.map(({ tools }) => tools.length)).toEqual([50, 50, 20]);
    expect(results.map(({ nextCursor }) => nextCursor)).toEqual(['1', '2', undefined]);
  });
});

describe('a call', () => {
  test.each<readonly [what: string, name: string, args: object, expected: object | string]>([
    ['omits null', 'listItems', { limit: null }, { query: { limit: 20 } }],
    ['sends numbers as text', 'listItems', { limit: 5 }, { query: { limit: 5 } }],
    ['repeats a list', 'listItems', { tag: ['a&b=c', 'é'] }, { query: { tag: ['a&b=c', 'é'] } }],
    ['keeps the slashes of a wildcard', 'readFile', { path: 'a b/c%d' }, 'file a b/c%d'],
    ['sends a body', 'createItem', { body: { name: 'Twö' } }, { id: '2', name: 'Twö' }],
    ['sends a body with QUERY', 'findItems', { body: { text: 'a' } }, { text: 'a' }],
    ['sends a header', 'createItem', { body: two, 'idempotency-key': 'k1' }, { id: 'k1', ...two }],
    ['describes an empty response', 'deleteItem', { id: '1' }, 'No Content'],
  ])('%s', async (_what, name, args, expected) => {
    const app = createItemApp({ tools: ['createItem', 'deleteItem'] });

    const { value } = await resultOf(app, call(name, args));

    if (typeof expected === 'string') expect(value).toBe(expected);
    else expect(value).toMatchObject(expected);
  });

  test('has the address and the headers of the client, but not those of its message', async () => {
    const headersOfClient = {
      authorization: 'Bearer ada',
      'x-forwarded-for': '203.0.113.9',
      'x-request-id': 'request-1',
      traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
    };

    const { value } = await resultOf(createItemApp(), call('getMe'), {
      ...headersOfClient,
      Host: 'api.example',
      'MCP-Protocol-Version': '2025-11-25',
      'If-None-Match': '*',
      'Idempotency-Key': 'k1',
      Range: 'bytes=0-1',
      Accept: 'application/json, text/event-stream',
    });

    expect(value).toEqual({
      user: 'ada',
      ip: '203.0.113.9',
      requestId: 'request-1',
      headers: { ...headersOfClient, host: 'api.example', accept: 'application/json, */*;q=0.5' },
    });
  });

  test('counts for the rate limit of the client', async () => {
    const app = createItemApp();
    const headers = { Authorization: 'Bearer ada' };

    await request(app, '/items/me', { headers });
    await resultOf(app, call('getMe'), headers);
    const third = await resultOf(app, call('getMe'), headers);

    expect(third).toMatchObject({ isError: true, value: { status: 429, code: 'RATE_LIMITED' } });
  });

  test.each<readonly [what: string, send: (ctx: Context) => unknown, text: RegExp]>([
    ['a redirect', (ctx) => ctx.redirect('/other'), /^Found: \/other$/],
    ['304', (ctx) => void ctx.raw.res.writeHead(304).end(), /^304 Not Modified$/],
    ['bytes that are not text', () => Buffer.from([0xff]), /not text: application\/octet-stream$/],
    ['a response over 1 MiB', () => 'x'.repeat(1024 ** 2 + 1), /more than 1048576 bytes/],
    ['a response that is cut', (ctx) => void ctx.raw.res.destroy(), /without a complete response/],
    ['invalid JSON', (ctx) => ctx.send('{'), /declared form/],
    ['an empty error', (ctx) => void ctx.raw.res.writeHead(502).end(), /^502 Bad Gateway$/],
  ])('is an error for %s', async (_what, send, text) => {
    const described = endpoint({ operationId: 'get', responses: { 200: z.object({}) } });
    const router = createRouter().get('/', described, (ctx) => send(ctx) as undefined);

    const result = await resultOf(createItemApp({}, router), call('get'));

    expect(result.isError).toBe(true);
    expect(result.text).toMatch(text);
  });
});

describe('a call that is still running', () => {
  test('causes no warning when a time limit responds to its message', async () => {
    const { logger, lines } = recordLog();
    const ended = Promise.withResolvers<unknown>();
    const router = createRouter().get('/', endpoint({ operationId: 'wait' }), async (ctx) => {
      await once(ctx.signal, 'abort');
      await nextTurn();
      return { late: true };
    });
    const app = createApp({ logger });
    app.use(
      timeout(20),
      async (ctx, next) => {
        await next();
        if (ctx.path === '/mcp') ended.resolve(ctx.status);
      },
      mcp({ router }),
    );
    app.route('/wait', router);

    const response = await request(app, '/mcp', { method: 'POST', json: call('wait') });
    await ended.promise;

    expect(response.status).toBe(503);
    expect(lines).not.toContainEqual(expect.stringMatching(/^warn:/));
  });
});

describe('the protocol', () => {
  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2099-01-01', '2025-11-25'],
  ])('initialize with %s negotiates %s', async (protocolVersion, negotiated) => {
    const { status, json: reply } = await post(createItemApp(), {
      ...rpc('initialize', { protocolVersion }),
      id: 'a',
    });

    expect(status).toBe(200);
    expect(reply).toEqual({
      jsonrpc: '2.0',
      id: 'a',
      result: {
        protocolVersion: negotiated,
        capabilities: { tools: {} },
        serverInfo: { name: 'API', title: 'API', version: '1.0.0' },
      },
    });
  });

  test.each([
    ['a notification', { jsonrpc: '2.0', method: 'notifications/other' }],
    ['a call without an id, which is not run', { ...call('getItem', { id: '1' }), id: undefined }],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ])('%s gets 202 without a body', async (_what, message) => {
    expect(await post(createItemApp(), message)).toMatchObject({ status: 202, json: '' });
  });

  test.each<readonly [what: string, message: unknown, status: number, code: number, text: string]>([
    ['no JSON', '{"jsonrpc"', 400, -32700, 'message'],
    ['an empty body', '', 400, -32700, 'message'],
    ['a message that is nested 100,000 times', deep, 400, -32700, 'message'],
    ['a prototype', '{"params":{"__proto__":{"name":"a"}}}', 400, -32700, '__proto__'],
    ['a NUL in an argument', call('getItem', { id: 'a\0' }), 400, -32700, 'message'],
    ['a lone surrogate in an argument', call('getItem', { id: '\ud800' }), 400, -32700, 'message'],
    ['a batch', [PING], 400, -32600, 'must be one object'],
    ['a string', '"ping"', 400, -32600, 'must be one object'],
    ['null', 'null', 400, -32600, 'must be one object'],
    ['another version of JSON-RPC', { ...PING, jsonrpc: '1.0' }, 400, -32600, 'must be one object'],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32600, 'method must be a string'],
    ['a null id', { ...PING, id: null }, 400, -32600, 'id must be a string or a whole number'],
    ['a fractional id', { ...PING, id: 1.5 }, 400, -32600, 'id must be a string or a whole number'],
    ['an unknown method', rpc('resources/list'), 200, -32601, 'Unknown method "resources/list"'],
    ['a method of Object', rpc('constructor'), 200, -32601, 'Unknown method "constructor"'],
    ['params that are a list', rpc('ping', []), 200, -32602, 'params must be an object'],
    [
      'initialize without a version',
      rpc('initialize'),
      200,
      -32602,
      'protocolVersion must be a string',
    ],
    ['an unknown tool', call('other'), 200, -32602, 'Unknown tool "other"'],
    [
      'a tool that is not offered',
      call('deleteItem', { id: '1' }),
      200,
      -32602,
      'Unknown tool "deleteItem"',
    ],
    ['a tool of Object', call('constructor'), 200, -32602, 'Unknown tool "constructor"'],
    ['a tool without a name', call(undefined), 200, -32602, 'name must be a string'],
    ['a name that has no text', call({ toString: 1 }), 200, -32602, 'name must be a string'],
    [
      'arguments that are a list',
      call('getItem', ['1']),
      200,
      -32602,
      'arguments must be an object',
    ],
    ['an unknown cursor', rpc('tools/list', { cursor: '-1' }), 200, -32602, 'Unknown cursor'],
  ])('%s is an error', async (_what, message, status, code, text) => {
    const response = await post(createItemApp(), message);

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    const id = status === 400 ? null : 1;
    const error = { code, message: expect.stringContaining(text) };
    expect(response.json).toMatchObject({ jsonrpc: '2.0', id, error });
  });

  test.each(['GET', 'DELETE', 'OPTIONS'])('%s gets 405', async (method) => {
    const response = await request(createItemApp(), '/mcp', { method });

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  test('the endpoint is at another path, and leaves others to the next middleware', async () => {
    const app = createItemApp({ path: '/agents/mcp/' });
    const send = (path: string) => request(app, path, { method: 'POST', json: PING });

    expect((await send('/Agents/mcp')).status).toBe(200);
    expect((await send('/mcp')).status).toBe(404);
  });

  test('a body parser may read the message before; ctx.route is the endpoint', async () => {
    const routes: unknown[] = [];
    const app = createApp({ logger: quiet });
    app.use(async (ctx, next) => {
      await next();
      routes.push(ctx.route?.path);
    });
    app.use(json(), mcp({ router: itemRoutes() }));

    const { json: reply } = await post(app, PING);

    expect(reply).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
    expect(routes).toEqual(['/mcp']);
  });
});

describe('attacks', () => {
  test.each<
    readonly [attack: string, headers: Record<string, string>, status: number, text: RegExp]
  >([
    [
      'a page of another site',
      { Origin: 'https://evil.example' },
      403,
      /evil.example.+ is not allowed/,
    ],
    [
      'DNS rebinding',
      { Host: 'evil.example', Origin: 'http://evil.example' },
      403,
      /is not allowed/,
    ],
    ['a sandboxed page', { Origin: 'null' }, 403, /null.+ is not allowed/],
    [
      'a page with a longer origin',
      { Origin: 'https://app.example.evil.example' },
      403,
      /is not allowed/,
    ],
    ['a page of an allowed origin', { Origin: 'https://app.example' }, 200, /result/],
    ['JSON in UTF-8', { 'Content-Type': 'application/json; charset=utf-8' }, 200, /result/],
    ['a form', { 'Content-Type': 'text/plain' }, 415, /must be application\/json/],
    ['a compressed body', { 'Content-Encoding': 'gzip' }, 415, /no content coding/],
    [
      'an unknown revision',
      { 'MCP-Protocol-Version': '2026-07-28' },
      400,
      /-32000.+supported: 2025-11-25, 2025-06-18/,
    ],
    ['a revision with batches', { 'MCP-Protocol-Version': '2025-03-26' }, 400, /-32000/],
  ])('%s: %o gets %i', async (_attack, headers, status, text) => {
    const app = createItemApp({ origins: ['https://app.example'] });

    const response = await post(app, PING, headers);

    expect(response.status).toBe(status);
    expect(JSON.stringify(response.json)).toMatch(text);
  });

  test('a message over 1 MiB gets 413', async () => {
    expect((await post(createItemApp(), ' '.repeat(1024 ** 2 + 1))).status).toBe(413);
  });

  const lines = { body: two, 'idempotency-key': 'a\r\nHost: b' };

  test.each<readonly [attack: string, name: string, args: unknown, status: number, text: RegExp]>([
    ['no token', 'getMe', {}, 401, /Send a token/],
    ['an empty segment, which would list all', 'getItem', { id: '' }, 400, /must not be empty/],
    ['null as a segment', 'getItem', { id: null }, 400, /"id" is required/],
    ['the parent folder', 'getItem', { id: '..' }, 400, /path must be/],
    ['the parent folder in a wildcard', 'readFile', { path: 'a/../../x' }, 400, /path must be/],
    ['another route', 'getItem', { id: 'me' }, 404, /Not Found/],
    ['an internal route in other case', 'getItem', { id: 'SECRET' }, 404, /Not Found/],
    ['a segment that is an object', 'getItem', { id: { a: 1 } }, 400, /must be text/],
    ['a number that was rounded', 'getItem', '{"id":9007199254740993}', 400, /must be text/],
    ['a path in a segment', 'getItem', { id: 'a/b?c#d%2F' }, 404, /^Item "a\/b\?c#d%2F" not found/],
    ['a nested list in the query', 'listItems', { tag: [['a']] }, 400, /must be text/],
    ['1,001 values', 'listItems', { tag: Array(1_001).fill('a') }, 400, /1000 keys/],
    ['a query over the limit', 'listItems', { tag: 'a'.repeat(20_000) }, 431, /16384/],
    ['an unknown argument', 'listItems', { admin: 1 }, 400, /"admin" is not an argument/],
    ['a member of Object', 'listItems', { constructor: 1 }, 400, /is not an argument/],
    ['a header that is no argument', 'createItem', { 'x-user-id': 'root' }, 400, /is not an arg/],
    ['a line break in a header', 'createItem', lines, 400, /ASCII/],
    ['no body', 'createItem', {}, 400, /body/],
    ['a body that does not fit', 'createItem', { body: { name: '' } }, 400, /body\/name/],
  ])('%s is rejected', async (_attack, name, args, status, detail) => {
    const json = typeof args === 'string' ? args : JSON.stringify(args);
    const message = JSON.stringify(call(name, 0)).replace(':0', `:${json}`);

    const { json: reply } = await post(createItemApp({ tools: ['createItem'] }), message);

    const problem = JSON.parse(reply.result.content[0].text);
    expect(reply.result.isError).toBe(true);
    expect(problem.status).toBe(status);
    expect(problem.detail).toMatch(detail);
  });
});

describe('arguments of a megabyte', () => {
  const MEGABYTE = 960_000;
  const keys = Array.from({ length: MEGABYTE / 15 }, (_, at) => [`key${at}`, 1]);

  test.each<readonly [what: string, name: string, args: object, status: number]>([
    ['numbers', 'listItems', { tag: Array(MEGABYTE / 2).fill(1) }, 431],
    ['empty texts', 'listItems', { tag: Array(MEGABYTE / 3).fill('') }, 431],
    ['lists', 'listItems', { tag: Array(MEGABYTE / 3).fill([]) }, 400],
    ['a text in the query', 'listItems', { tag: 'é'.repeat(MEGABYTE / 2) }, 431],
    ['a segment', 'getItem', { id: 'é'.repeat(MEGABYTE / 2) }, 431],
    ['a path', 'readFile', { path: '/'.repeat(MEGABYTE) }, 431],
    ['a header', 'createItem', { body: two, 'idempotency-key': 'a'.repeat(MEGABYTE) }, 431],
    ['unknown arguments', 'listItems', Object.fromEntries(keys), 400],
  ])('%s are rejected before they are encoded', async (_what, name, args, status) => {
    const append = vi.spyOn(URLSearchParams.prototype, 'append');
    const encode = vi.spyOn(globalThis, 'encodeURIComponent');
    onTestFinished(() => void [append, encode].forEach((spy) => void spy.mockRestore()));

    const { value, isError } = await resultOf(
      createItemApp({ tools: ['createItem'] }),
      call(name, args),
    );

    expect({ status: value.status, isError }).toEqual({ status, isError: true });
    expect(append.mock.calls.length).toBeLessThan(16_384);
    expect(encode.mock.calls.length).toBe(0);
  });
});

describe('invalid options', () => {
  const router = itemRoutes();

  test.each<readonly [options: object, message: RegExp]>([
    [{}, /^mcp\(\) needs the option router: an object with getRoutes\(\)$/],
    [{ router: {} }, /option router "{}" of mcp\(\): expected an object with getRoutes\(\)$/],
    [{ router, path: 'mcp' }, /option path "mcp" of mcp\(\): expected a path/],
    [{ router, tools: 'createItem' }, /option tools "createItem" .* ids, or a function$/],
    [{ router, tools: [1] }, /option tools .* a list of operation ids, or a function$/],
    [{ router, origins: ['*'] }, /option origins .* such as \["https:\/\/app\.example\.com"\]$/],
    [{ router, origins: ['https://app.example/'] }, /option origins .* a list of origins such as/],
    [{ router, tool: [] }, /^mcp\(\) has no option "tool"; did you mean "tools"/],
  ])('%o throws', (options, message) => {
    expect(() => mcp(options as McpOptions)).toThrow(message);
  });

  const routeOf = (operationId: string, bodyTypes?: string[]) =>
    createRouter().post('/', endpoint({ operationId, ...(bodyTypes && { bodyTypes }) }), () => '');

  test.each<readonly [what: string, tool: string, routes: Router, message: RegExp]>([
    ['an unknown tool', 'createItems', router, /tools "createItems" .* did you mean "createItem"/],
    ['an internal tool', 'secret', router, /tools "secret"/],
    ['a name with a space', 'a b', routeOf('a b'), /Cannot offer POST .* 1 to 128 characters/],
    ['a form', 'upload', routeOf('upload', ['multipart/form-data']), /its body is multipart/],
    ['an event stream', 'watch', streams, /its response is an event stream or a WebSocket/],
  ])('the application does not start with %s', async (_what, tool, routes, message) => {
    await expect(createItemApp({ tools: [tool] }, routes).ready()).rejects.toThrow(message);
  });
});

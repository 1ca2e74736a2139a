import { json } from '@fw/body-parser';
import { request } from '@fw/core/testing';
import { rateLimit } from '@fw/rate-limit';
import { validate } from '@fw/validation';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type Application,
  ConflictError,
  type Context,
  createApp,
  createRouter,
  endpoint,
  errorHandler,
  listen,
  type Middleware,
  NotFoundError,
  notFoundHandler,
  type Router,
  UnauthorizedError,
} from 'fw';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';

import { type McpOptions, mcp } from './mcp.ts';

const quiet = { info() {}, warn() {}, error() {} };

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

const requireToken: Middleware = (ctx, next) => {
  const id = /^Bearer (.+)$/.exec(ctx.get('authorization') ?? '')?.[1];
  if (id === undefined) throw new UnauthorizedError('Send a token');
  ctx.state.user = { id };
  return next();
};

/** Routes with each kind of parameter, body and response. */
function itemRoutes(): Router {
  const router = createRouter();
  router.get(
    '/',
    endpoint({
      operationId: 'listItems',
      summary: 'List items',
      responses: { 200: z.object({ data: z.array(Item), query: z.unknown() }) },
    }),
    validate({ query: ListQuery }),
    (ctx) => ({ data: [{ id: '1', name: 'One' }], query: ctx.query }),
  );
  router.get(
    '/:id',
    endpoint({
      operationId: 'getItem',
      summary: 'Read an item',
      description: 'By its id.',
      responses: { 200: Item },
    }),
    validate({ params: ItemId }),
    (ctx) => {
      if (ctx.params.id !== '1') throw new NotFoundError(`Item "${ctx.params.id}" not found`);
      return { id: '1', name: 'One' };
    },
  );
  router.get(
    '/secret',
    endpoint({ operationId: 'secret', visibility: 'internal' }),
    () => 'secret',
  );
  router.query(
    '/',
    endpoint({
      operationId: 'findItems',
      summary: 'Find items',
      responses: { 200: z.object({ found: z.array(z.string()) }) },
    }),
    validate({ body: z.object({ text: z.string() }) }),
    (ctx) => ({ found: [ctx.body.text] }),
  );
  router.post(
    '/',
    endpoint({ operationId: 'createItem', summary: 'Create an item', responses: { 201: Item } }),
    validate({
      headers: z.object({
        'idempotency-key': z.string().optional(),
        'x-user-id': z.string().optional(),
      }),
      body: z.object({ name: z.string().min(1) }),
    }),
    (ctx) => {
      if (ctx.body.name === 'One') throw new ConflictError('The name is taken');
      ctx.status = 201;
      return { id: ctx.get('idempotency-key') ?? '2', name: ctx.body.name };
    },
  );
  router.put(
    '/:id',
    endpoint({ operationId: 'replaceItem', deprecated: true }),
    validate({ params: ItemId, body: z.object({ name: z.string() }) }),
    () => 'replaced',
  );
  router.delete(
    '/:id',
    endpoint({ operationId: 'deleteItem', responses: { 204: undefined } }),
    (ctx) => ctx.send(''),
  );
  router.get('/files/*', endpoint({ operationId: 'readFile' }), (ctx) => `file ${ctx.params['*']}`);
  router.get(
    '/me',
    endpoint({ operationId: 'getMe' }),
    requireToken,
    rateLimit({ max: 2, window: '1h', keyGenerator: (ctx) => ctx.state.user?.id ?? '' }),
    (ctx) => ({
      user: ctx.state.user?.id,
      ip: ctx.ip,
      accept: ctx.get('accept'),
      requestId: ctx.requestId,
      traceparent: ctx.get('traceparent'),
      version: ctx.get('mcp-protocol-version') ?? null,
      length: ctx.get('content-length') ?? null,
      condition: ctx.get('if-none-match') ?? null,
    }),
  );
  return router;
}

function createItemApp(options: Partial<McpOptions> = {}, router = itemRoutes()): Application {
  const app = createApp({ logger: quiet, trustProxy: 1 });
  app.use(errorHandler(), mcp({ router, ...options }), json());
  app.route('/items', router);
  return app.use(router.allowedMethods(), notFoundHandler());
}

/** A client of the official SDK that is connected to `app`. */
async function connect(app: Application, headers: Record<string, string> = {}): Promise<Client> {
  const { port, close } = await listen(app, 0);
  const client = new Client({ name: 'test', version: '1.0.0' });
  const url = new URL(`http://127.0.0.1:${port}/mcp`);
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }));
  onTestFinished(async () => {
    await client.close();
    await close();
  });
  return client;
}

const HEADERS = { 'Content-Type': 'application/json' };

/** Sends one message, as text or as JSON. */
async function post(app: Application, message: unknown, headers: Record<string, string> = {}) {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const response = await request(app, '/mcp', {
    method: 'POST',
    headers: { ...HEADERS, ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, json: text && JSON.parse(text) };
}

const call = (name: unknown, args?: unknown) => ({
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name, arguments: args },
});

/** The result of a call of a tool: its text, parsed if it is JSON. */
async function resultOf(
  app: Application,
  name: string,
  args?: unknown,
  headers?: Record<string, string>,
) {
  const { json: reply } = await post(app, call(name, args), headers);
  const { content, isError = false, structuredContent } = reply.result;
  const { text } = content[0];
  return { text, isError, structuredContent, value: /^[{[]/.test(text) ? JSON.parse(text) : text };
}

describe('with the client of the official SDK', () => {
  test('a client connects, lists the tools and calls them', async () => {
    const client = await connect(
      createItemApp({ info: { title: 'Items', version: '2.0.0', description: 'Items to read.' } }),
    );

    expect(client.getServerVersion()).toMatchObject({ name: 'Items', version: '2.0.0' });
    expect(client.getInstructions()).toBe('Items to read.');
    await client.ping();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual([
      'listItems',
      'getItem',
      'findItems',
      'readFile',
      'getMe',
    ]);
    expect(await client.callTool({ name: 'getItem', arguments: { id: '1' } })).toEqual({
      content: [{ type: 'text', text: '{"id":"1","name":"One"}' }],
      structuredContent: { id: '1', name: 'One' },
    });
    expect(
      await client.callTool({ name: 'findItems', arguments: { body: { text: 'a' } } }),
    ).toMatchObject({
      structuredContent: { found: ['a'] },
    });
  });

  test('a failed call is a result with the problem, and not an exception', async () => {
    const client = await connect(createItemApp());
    await client.listTools(); // the client then checks results against the output schemas

    const result = await client.callTool({ name: 'getItem', arguments: { id: '9' } });

    expect(result.isError).toBe(true);
    expect(JSON.parse((result.content as { text: string }[])[0]!.text)).toMatchObject({
      status: 404,
      code: 'NOT_FOUND',
      detail: 'Item "9" not found',
    });
  });

  test('a client with a token calls what its guard protects, and one without gets the 401', async () => {
    const app = createItemApp();
    const ada = await connect(app, { Authorization: 'Bearer ada' });
    const anonymous = await connect(app);

    expect(await ada.callTool({ name: 'getMe' })).not.toHaveProperty('isError');
    expect(await anonymous.callTool({ name: 'getMe' })).toMatchObject({ isError: true });
  });
});

describe('tools', () => {
  /** The tools of `tools/list`, by name. */
  async function toolsOf(app: Application) {
    const { json: reply } = await post(app, { jsonrpc: '2.0', id: 1, method: 'tools/list' });
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
    expect(listItems.outputSchema.properties.data).toEqual({
      type: 'array',
      items: { $ref: '#/$defs/Item' },
    });
    expect(JSON.stringify([getItem, listItems])).not.toContain('#/components');
  });

  test('other methods than GET and QUERY are tools if they are named', async () => {
    const tools = ['createItem', 'replaceItem', 'deleteItem'];

    const found = await toolsOf(createItemApp({ tools }));

    expect(found.createItem.annotations).toEqual({
      readOnlyHint: false,
      destructiveHint: true,
      idempotentHint: false,
    });
    expect(found.replaceItem.annotations).toMatchObject({ idempotentHint: true });
    expect(found.replaceItem.description).toBe('Deprecated.\n\nPUT /items/{id}');
    expect(found.deleteItem.annotations).toMatchObject({
      destructiveHint: true,
      idempotentHint: true,
    });
  });

  test('arguments are the parameters, the body, and headers that do not identify the client', async () => {
    const { createItem } = await toolsOf(createItemApp({ tools: ['createItem'] }));

    expect(Object.keys(createItem.inputSchema.properties)).toEqual(['body', 'idempotency-key']);
    expect(createItem.inputSchema.required).toEqual(['body']);
  });

  test('equal names of parameters get a number, and other characters an underscore', async () => {
    const query = z.object({ id: z.string(), 'filter[name]': z.string(), body: z.string() });
    const router = createRouter();
    router.post(
      '/:id',
      endpoint({ operationId: 'change' }),
      validate({ query, body: z.object({}) }),
      (ctx) => ({
        id: ctx.params.id,
        query: ctx.query,
        body: ctx.body,
      }),
    );
    const app = createItemApp({ tools: ['change'] }, router);
    const args = { id: 'a', id_2: 'b', filter_name_: 'c', body_2: 'd', body: {} };

    const { change } = await toolsOf(app);

    expect(Object.keys(change.inputSchema.properties)).toEqual([
      'body',
      'id',
      'id_2',
      'filter_name_',
      'body_2',
    ]);
    expect((await resultOf(app, 'change', args)).value).toEqual({
      id: 'a',
      query: { id: 'b', 'filter[name]': 'c', body: 'd' },
      body: {},
    });
  });

  test('an operation has no output schema if its success is not one JSON object', async () => {
    const router = createRouter();
    const text = { 200: { schema: z.string(), mediaTypes: ['text/csv'] } };
    const declared = {
      list: { 200: z.array(z.string()) },
      either: { 200: z.object({}), 202: z.object({}) },
      text,
    };
    for (const [operationId, responses] of Object.entries(declared)) {
      router.get(`/${operationId}`, endpoint({ operationId, responses }), (ctx) => ctx.json([]));
    }

    for (const tool of Object.values(await toolsOf(createItemApp({}, router)))) {
      expect(tool).not.toHaveProperty('outputSchema');
    }
  });

  test('tools are listed in pages of 50', async () => {
    const router = createRouter();
    for (let at = 0; at < 120; at++) {
      router.get(`/${at}`, endpoint({ operationId: `tool${at}` }), () => '');
    }
    const client = await connect(createItemApp({}, router));
    const sizes: number[] = [];

    let cursor: string | undefined;
    do {
      const page = await client.listTools({ cursor });
      sizes.push(page.tools.length);
      cursor = page.nextCursor;
    } while (cursor !== undefined);

    expect(sizes).toEqual([50, 50, 20]);
  });
});

describe('a call', () => {
  test.each<readonly [what: string, name: string, args: object, expected: unknown]>([
    ['omits null', 'listItems', { limit: null }, { query: { limit: 20 } }],
    ['sends numbers as text', 'listItems', { limit: 5 }, { query: { limit: 5 } }],
    ['repeats a list', 'listItems', { tag: ['a&b=c', 'é'] }, { query: { tag: ['a&b=c', 'é'] } }],
    [
      'escapes a segment',
      'getItem',
      { id: 'a/b?c#d%2F' },
      { detail: 'Item "a/b?c#d%2F" not found' },
    ],
    ['keeps the slashes of a wildcard', 'readFile', { path: 'a b/c%d' }, 'file a b/c%d'],
    ['sends a body', 'createItem', { body: { name: 'Twö' } }, { id: '2', name: 'Twö' }],
    [
      'sends a header',
      'createItem',
      { body: { name: 'Two' }, 'idempotency-key': 'k1' },
      { id: 'k1', name: 'Two' },
    ],
    ['describes an empty response', 'deleteItem', { id: '1' }, 'No Content'],
  ])('%s', async (_what, name, args, expected) => {
    const app = createItemApp({ tools: ['createItem', 'deleteItem'] });

    const { value } = await resultOf(app, name, args);

    if (typeof expected === 'string') expect(value).toBe(expected);
    else expect(value).toMatchObject(expected as object);
  });

  test('has the address and the headers of the client, but not those of its message', async () => {
    const app = createItemApp();
    const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`;

    const { value } = await resultOf(
      app,
      'getMe',
      {},
      {
        Authorization: 'Bearer ada',
        'X-Forwarded-For': '203.0.113.9',
        'X-Request-Id': 'request-1',
        'MCP-Protocol-Version': '2025-11-25',
        'If-None-Match': '*',
        Accept: 'application/json, text/event-stream',
        traceparent,
      },
    );

    expect(value).toEqual({
      user: 'ada',
      ip: '203.0.113.9',
      accept: 'application/json, */*;q=0.5',
      requestId: 'request-1',
      traceparent,
      version: null,
      length: null,
      condition: null,
    });
  });

  test('counts for the rate limit of the client', async () => {
    const app = createItemApp();
    const authorization = { Authorization: 'Bearer ada' };

    await request(app, '/items/me', { headers: authorization });
    await resultOf(app, 'getMe', {}, authorization);
    const third = await resultOf(app, 'getMe', {}, authorization);

    expect(third).toMatchObject({ isError: true, value: { status: 429, code: 'RATE_LIMITED' } });
  });

  test.each<readonly [what: string, send: (ctx: Context) => unknown, text: RegExp]>([
    ['a redirect', (ctx) => ctx.redirect('/other'), /^Found: \/other$/],
    ['304', (ctx) => void ctx.raw.res.writeHead(304).end(), /^304 Not Modified$/],
    ['bytes that are not text', () => Buffer.from([0xff]), /not text: application\/octet-stream$/],
    ['a response over 1 MiB', () => 'x'.repeat(1024 ** 2 + 1), /more than 1048576 bytes/],
    ['a response that is cut', (ctx) => void ctx.raw.res.destroy(), /without a complete response/],
    [
      'JSON that is invalid',
      (ctx) => ctx.set('Content-Type', 'application/json').send('{'),
      /declared form/,
    ],
    [
      'an error without a body',
      (ctx) => {
        ctx.raw.res.writeHead(500).end();
      },
      /^500 Internal Server Error$/,
    ],
  ])('is an error for %s', async (_what, send, text) => {
    const router = createRouter();
    router.get(
      '/',
      endpoint({ operationId: 'get', responses: { 200: z.object({}) } }),
      (ctx) => send(ctx) as undefined,
    );

    const result = await resultOf(createItemApp({}, router), 'get');

    expect(result.isError).toBe(true);
    expect(result.text).toMatch(text);
  });
});

describe('the protocol', () => {
  const INITIALIZE = { jsonrpc: '2.0', id: 'a', method: 'initialize' };

  test.each([
    ['2025-11-25', '2025-11-25'],
    ['2025-06-18', '2025-06-18'],
    ['2024-11-05', '2025-11-25'],
    ['2099-01-01', '2025-11-25'],
  ])('initialize with %s negotiates %s', async (requested, negotiated) => {
    const params = {
      protocolVersion: requested,
      capabilities: {},
      clientInfo: { name: 'a', version: '1' },
    };

    const { status, json: reply } = await post(createItemApp(), { ...INITIALIZE, params });

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
    ['a notification', { jsonrpc: '2.0', method: 'notifications/initialized' }],
    ['an unknown notification', { jsonrpc: '2.0', method: 'notifications/other', params: {} }],
    ['a call without an id, which is not run', { ...call('getItem', { id: '1' }), id: undefined }],
    ['a response', { jsonrpc: '2.0', id: 1, result: {} }],
  ])('%s gets 202 without a body', async (_what, message) => {
    expect(await post(createItemApp(), message)).toMatchObject({ status: 202, json: '' });
  });

  test.each<readonly [what: string, message: unknown, status: number, code: number]>([
    ['no JSON', '{"jsonrpc"', 400, -32700],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'ping' }], 400, -32600],
    ['an empty body', '', 400, -32700],
    ['a string', '"ping"', 400, -32600],
    ['null', 'null', 400, -32600],
    ['another version of JSON-RPC', { jsonrpc: '1.0', id: 1, method: 'ping' }, 400, -32600],
    ['no method', { jsonrpc: '2.0', id: 1 }, 400, -32600],
    ['a null id', { jsonrpc: '2.0', id: null, method: 'ping' }, 400, -32600],
    ['a fractional id', { jsonrpc: '2.0', id: 1.5, method: 'ping' }, 400, -32600],
    ['an unknown method', { jsonrpc: '2.0', id: 1, method: 'resources/list' }, 200, -32601],
    ['a method of Object', { jsonrpc: '2.0', id: 1, method: 'constructor' }, 200, -32601],
    ['params that are a list', { jsonrpc: '2.0', id: 1, method: 'ping', params: [] }, 200, -32602],
    ['initialize without a version', INITIALIZE, 200, -32602],
    ['an unknown tool', call('other'), 200, -32602],
    ['a tool of Object', call('constructor'), 200, -32602],
    ['a tool without a name', call(undefined), 200, -32602],
    ['a name that has no text', call({ toString: 1 }), 200, -32602],
    ['arguments that are a list', call('getItem', ['1']), 200, -32602],
    [
      'an unknown cursor',
      { jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: '-1' } },
      200,
      -32602,
    ],
  ])('%s is an error', async (_what, message, status, code) => {
    const response = await post(createItemApp(), message);

    expect(response.status).toBe(status);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.json).toMatchObject({ jsonrpc: '2.0', error: { code } });
    expect(response.json.id).toBe(status === 400 ? null : response.json.id);
  });

  test.each(['GET', 'DELETE', 'PUT', 'HEAD', 'OPTIONS'])('%s gets 405', async (method) => {
    const response = await request(createItemApp(), '/mcp', { method });

    expect(response.status).toBe(405);
    expect(response.headers.get('allow')).toBe('POST');
  });

  test('the endpoint is at another path, and leaves others to the next middleware', async () => {
    const app = createItemApp({ path: '/agents/mcp/' });
    const send = (path: string) =>
      request(app, path, { method: 'POST', json: { jsonrpc: '2.0', id: 1, method: 'ping' } });

    expect((await send('/Agents/mcp')).status).toBe(200);
    expect((await send('/mcp')).status).toBe(404);
  });

  test('a body parser may read the message before', async () => {
    const app = createApp({ logger: quiet });
    app.use(errorHandler(), json(), mcp({ router: itemRoutes() }));

    const { json: reply } = await post(app, { jsonrpc: '2.0', id: 1, method: 'ping' });

    expect(reply).toEqual({ jsonrpc: '2.0', id: 1, result: {} });
  });

  test('ctx.route is the endpoint, for logs and metrics', async () => {
    const routes: unknown[] = [];
    const app = createApp({ logger: quiet });
    app.use(async (ctx, next) => {
      await next();
      routes.push(ctx.route?.path);
    });
    app.use(mcp({ router: itemRoutes() }));

    await post(app, { jsonrpc: '2.0', id: 1, method: 'ping' });

    expect(routes).toEqual(['/mcp']);
  });
});

describe('attacks', () => {
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };

  test.each<readonly [attack: string, headers: Record<string, string>, status: number]>([
    ['a page of another site', { Origin: 'https://evil.example' }, 403],
    [
      'a page whose name leads here (DNS rebinding)',
      { Host: 'evil.example', Origin: 'http://evil.example' },
      403,
    ],
    ['a sandboxed page', { Origin: 'null' }, 403],
    ['a page with a longer origin', { Origin: 'https://app.example.evil.example' }, 403],
    ['a page of an allowed origin', { Origin: 'https://app.example' }, 200],
    ['a form', { 'Content-Type': 'text/plain' }, 415],
    ['a compressed body', { 'Content-Encoding': 'gzip' }, 415],
    ['an unknown revision', { 'MCP-Protocol-Version': '2026-07-28' }, 400],
    ['a revision with batches', { 'MCP-Protocol-Version': '2025-03-26' }, 400],
  ])('%s: %o gets %i', async (_attack, headers, status) => {
    const app = createItemApp({ origins: ['https://app.example'] });

    expect((await post(app, ping, headers)).status).toBe(status);
  });

  test('a message over 1 MiB gets 413', async () => {
    expect((await post(createItemApp(), ' '.repeat(1024 ** 2 + 1))).status).toBe(413);
  });

  test.each<readonly [attack: string, name: string, args: unknown, status: number, detail: RegExp]>(
    [
      ['an empty segment, which would list all', 'getItem', { id: '' }, 400, /must not be empty/],
      ['no segment', 'getItem', {}, 400, /"id" is required/],
      ['null as a segment', 'getItem', { id: null }, 400, /"id" is required/],
      ['the parent folder', 'getItem', { id: '..' }, 400, /path must be/],
      ['the parent folder in a wildcard', 'readFile', { path: 'a/../../x' }, 400, /path must be/],
      ['a NUL', 'getItem', { id: 'a\0' }, 400, /path must be/],
      ['another route', 'getItem', { id: 'me' }, 404, /Not Found/],
      ['an internal route', 'getItem', { id: 'secret' }, 404, /Not Found/],
      ['an internal route in other case', 'getItem', { id: 'SECRET' }, 404, /Not Found/],
      ['a segment that is an object', 'getItem', { id: { a: 1 } }, 400, /must be text/],
      ['a number that was rounded', 'getItem', { id: 2 ** 53 }, 400, /must be text/],
      ['a query in the segment', 'getItem', { id: '1?limit=5' }, 404, /Item "1\?limit=5"/],
      ['a lone surrogate', 'getItem', { id: '\ud800' }, 404, /not found/],
      ['a nested list in the query', 'listItems', { tag: [['a']] }, 400, /must be text/],
      ['1,001 values', 'listItems', { tag: Array(1_001).fill('a') }, 400, /1000 keys/],
      [
        'a query over the limit of the parser',
        'listItems',
        { tag: 'a'.repeat(20_000) },
        431,
        /16384/,
      ],
      ['an unknown argument', 'listItems', { admin: 1 }, 400, /"admin" is not an argument/],
      ['a member of Object', 'listItems', { constructor: 1 }, 400, /is not an argument/],
      ['a header that is no argument', 'createItem', { 'x-user-id': 'root' }, 400, /is not an arg/],
      [
        'a line break in a header',
        'createItem',
        { body: { name: 'a' }, 'idempotency-key': 'a\r\nHost: b' },
        400,
        /ASCII/,
      ],
      ['no body', 'createItem', {}, 400, /body/],
      ['a body that does not fit', 'createItem', { body: { name: '' } }, 400, /body\/name/],
      ['a tool that is not offered', 'deleteItem', { id: '1' }, 0, /Unknown tool/],
    ],
  )('%s is rejected', async (_attack, name, args, status, detail) => {
    const { json: reply } = await post(createItemApp({ tools: ['createItem'] }), call(name, args));

    const problem = reply.error ?? JSON.parse(reply.result.content[0].text);
    expect(problem.detail ?? problem.message).toMatch(detail);
    expect(problem.status ?? 0).toBe(status);
  });

  test('a prototype in the arguments or in the body changes nothing', async () => {
    const app = createItemApp({ tools: ['createItem'] });
    const send = (args: string) =>
      post(
        app,
        JSON.stringify(call('createItem', 0)).replace('"arguments":0', `"arguments":${args}`),
      );

    const first = await send('{"__proto__":{"body":{"name":"a"}}}');
    const second = await send('{"body":{"name":"a","__proto__":{"id":"9"}}}');

    expect(first.json.result.content[0].text).toMatch(/is not an argument/);
    expect(second.json.result).toMatchObject({ isError: true });
  });

  test('a body that is nested 100,000 times is rejected', async () => {
    const app = createItemApp({ tools: ['createItem'] });
    const message = JSON.stringify(call('createItem', 0));
    const deep = `{"body":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

    const { json: reply } = await post(
      app,
      message.replace('"arguments":0', `"arguments":${deep}`),
    );

    expect(reply.result).toMatchObject({ isError: true });
  });

  test('the endpoint cannot call itself', async () => {
    const app = createApp({ logger: quiet });
    const router = createRouter();
    router.post('/mcp', endpoint({ operationId: 'self' }), json(), () => 'never');
    app.use(errorHandler(), mcp({ router, tools: ['self'] }));
    app.route('/', router);

    const { isError, value } = await resultOf(app, 'self', { body: call('self', { body: {} }) });

    expect(isError).toBe(false);
    expect(value.result).toMatchObject({ isError: true });
  });
});

describe('invalid options', () => {
  const router = itemRoutes();

  test.each<readonly [options: object, message: string]>([
    [{}, 'mcp() needs the option router: an object with getRoutes()'],
    [
      { router: {} },
      'Cannot read option router "{}" of mcp(): expected an object with getRoutes()',
    ],
    [
      { router, path: 'mcp' },
      'Cannot read option path "mcp" of mcp(): expected a path that starts with "/"',
    ],
    [
      { router, tools: 'createItem' },
      'Cannot read option tools "createItem" of mcp(): expected a list of operation ids',
    ],
    [
      { router, origins: ['*'] },
      'Cannot read option origins "[ \'*\' ]" of mcp(): expected a list of origins such as ["https://app.example.com"]',
    ],
    [
      { router, origins: ['https://app.example.com/'] },
      'Cannot read option origins "[ \'https://app.example.com/\' ]" of mcp(): expected a list of origins such as ["https://app.example.com"]',
    ],
    [
      { router, tool: [] },
      'mcp() has no option "tool"; did you mean "tools"? Its options: router, path, tools, origins, info, toJsonSchema',
    ],
  ])('%o throws', (options, message) => {
    expect(() => mcp(options as McpOptions)).toThrow(new TypeError(message));
  });

  test.each<readonly [what: string, options: Partial<McpOptions>, routes: Router, message: RegExp]>(
    [
      [
        'an unknown tool',
        { tools: ['createItems'] },
        router,
        /tools "createItems" of mcp\(\): expected the id of an operation; did you mean "createItem"/,
      ],
      ['an internal tool', { tools: ['secret'] }, router, /tools "secret"/],
      [
        'a name with a space',
        {},
        createRouter().get('/', endpoint({ operationId: 'a b' }), () => ''),
        /Cannot offer GET .* 1 to 128 characters/,
      ],
      [
        'a tool whose body is a form',
        { tools: ['upload'] },
        createRouter().post(
          '/',
          endpoint({ operationId: 'upload', bodyTypes: ['multipart/form-data'] }),
          () => '',
        ),
        /Cannot offer POST .* its body is multipart\/form-data/,
      ],
    ],
  )('the application does not start with %s', async (_what, options, routes, message) => {
    await expect(createItemApp(options, routes).ready()).rejects.toThrow(message);
  });
});

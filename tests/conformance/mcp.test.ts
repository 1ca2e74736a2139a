import { request } from '@fw/core/testing';
import type { RequestEntry } from '@fw/service';
import fc from 'fast-check';
import type { Application } from 'fw';
import { expect, onTestFinished, test } from 'vitest';

import { createCatalogApp } from '../../services/catalog/src/app.ts';
import {
  importText,
  itemOf,
  newSqliteDatabase,
  toLines,
} from '../../services/catalog/src/testing.ts';
import { createUsersApp } from '../../services/users/src/app.ts';
import { openSqliteUserStore } from '../../services/users/src/store/sqlite.ts';

/** Calls per service; `make conformance` runs the long version. */
const CALLS = process.env.FULL ? 5_000 : 200;

const HEADERS = {
  'X-Request-Id': 'request-1',
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`,
};

/** The same application twice, and the log of each. */
interface World {
  readonly app: Application;
  readonly entries: RequestEntry[];
}

type CreateApp = (logger: object) => Promise<Application> | Application;

async function createWorld(createApp: CreateApp): Promise<World> {
  const entries: RequestEntry[] = [];
  const app = await createApp({
    info() {},
    warn() {},
    error() {},
    request: (entry: RequestEntry) => void entries.push(entry),
  });
  return { app, entries };
}

const createUsers: CreateApp = (logger) => {
  const store = openSqliteUserStore(':memory:');
  onTestFinished(() => store.close());
  let ids = 0;
  return createUsersApp({
    store,
    bodyLimit: 10_000,
    newId: () => `u${++ids}`,
    now: () => new Date('2026-11-21T10:00:00.000Z'),
    logger: logger as never,
  });
};

const createCatalog: CreateApp = async (logger) => {
  const database = newSqliteDatabase();
  await importText(database, toLines(Array.from({ length: 40 }, (_, at) => itemOf(at + 1))));
  const store = database.openStore();
  onTestFinished(() => store.close());
  return createCatalogApp({ store, logger: logger as never });
};

interface Call {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

const text = fc.string({ maxLength: 20, unit: 'binary' });
const number = fc.oneof(
  fc.integer({ min: -1, max: 120 }),
  fc.double({ min: -1e15, max: 1e15, noNaN: true }),
);
const name = fc.oneof(fc.constantFrom('Ada', '', ' '), text);
const email = fc.oneof(
  fc.nat(500).map((at) => `ada${at}@example.com`),
  text,
);
const body = fc.oneof(
  fc.record({ name, email }, { requiredKeys: [] }),
  fc.record({ name: fc.constant('Ada'), email }),
  fc.jsonValue(),
);

/** Values that fit an argument of this name; others are generated for every argument. */
const FITTING: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  body,
  id: fc.nat(50).map((at) => (at % 2 ? `u${at}` : String(at))),
  limit: fc.integer({ min: 1, max: 100 }),
  sort: fc.constantFrom('id', '-price', 'name'),
  q: fc.constantFrom('kettle', 'tea 7', 'water'),
  category: fc.constantFrom('Kitchen', 'Garden'),
  email,
  'if-match': fc.constantFrom('"1"', '"2"', '*', 'x"', 'W/"1"'),
  'idempotency-key': fc.constantFrom('k1', 'k2', ' '),
};

const other = fc.oneof(
  text,
  number,
  fc.boolean(),
  fc.constant(null),
  fc.array(text, { maxLength: 3 }),
);

/** An argument in a segment is not empty, and one in a header is printable. */
function valuesOf(argument: string): fc.Arbitrary<unknown> {
  const fitting = FITTING[argument] ?? other;
  if (argument === 'body' || /^i[fd].*-/.test(argument)) return fitting;
  const any = argument === 'id' ? text.filter((id) => id !== '') : other;
  return fc.oneof({ weight: 6, arbitrary: fitting }, { weight: 1, arbitrary: any });
}

interface ToolDescription {
  readonly name: string;
  readonly inputSchema: { readonly properties: object };
}

/** Calls of the tools in turn, with some of their arguments. */
function generateCalls(tools: readonly ToolDescription[]): readonly Call[] {
  return tools
    .flatMap(({ name, inputSchema }, at) => {
      const names = Object.keys(inputSchema.properties);
      const args = fc.subarray(names, { maxLength: Math.min(3, names.length) }).chain((some) => {
        const all = [...some, ...names.filter((each) => each === 'id' || each === 'body')];
        return fc.record(Object.fromEntries(all.map((each) => [each, valuesOf(each)])));
      });
      return fc
        .sample(args, { numRuns: Math.ceil(CALLS / tools.length), seed: at + 1 })
        .map((each, turn) => ({ name, args: each, turn }));
    })
    .sort((a, b) => a.turn - b.turn);
}

interface OperationDescription {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: { readonly content: object };
}

/** The operations in the OpenAPI document of `app`, by id. */
async function readOperations(app: Application) {
  const { paths } = (await (await request(app, '/openapi.json')).json()) as {
    paths: Record<string, Record<string, OperationDescription>>;
  };
  const operations = Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ ...operation, method, path })),
  );
  return new Map(operations.map((operation) => [operation.operationId, operation]));
}

/** Sends a call as an HTTP client that has read the OpenAPI document. */
async function sendHttp({ app }: World, operation: OperationDescription, { args }: Call) {
  const { method, path, parameters = [], requestBody } = operation;
  const headers: Record<string, string> = { ...HEADERS, Accept: 'application/json' };
  const query = new URLSearchParams();
  let target = path;
  for (const { name, in: place } of parameters) {
    const value = args[name];
    if (value === undefined || value === null) continue;
    if (place === 'path') target = target.replace(`{${name}}`, encodeURIComponent(String(value)));
    if (place === 'header') headers[name] = String(value);
    if (place === 'query') for (const each of [value].flat()) query.append(name, String(each));
  }
  const hasBody = args.body !== undefined && requestBody !== undefined;
  if (hasBody) headers['Content-Type'] = Object.keys(requestBody.content)[0] ?? '';
  const response = await request(app, query.size > 0 ? `${target}?${query}` : target, {
    method: method.toUpperCase(),
    headers,
    ...(hasBody && { body: JSON.stringify(args.body) }),
  });
  return { isError: response.status >= 400, text: await response.text() };
}

interface Message<Result> {
  readonly result: Result;
  readonly error?: { readonly code: number; readonly message: string };
}

async function sendMcp<Result>({ app }: World, path: string, method: string, params: object) {
  const json = { jsonrpc: '2.0', id: 1, method, params };
  const response = await request(app, path, { method: 'POST', headers: HEADERS, json });
  return (await response.json()) as Message<Result>;
}

interface CallResult {
  readonly content: readonly { readonly text: string }[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
}

test.each([
  ['users', createUsers],
  ['catalog', createCatalog],
])(
  `calls of the tools of %s have the results and the log of the HTTP requests`,
  async (service, createApp) => {
    const path = `/api/v2/${service}/mcp`;
    const [http, mcp] = [await createWorld(createApp), await createWorld(createApp)];
    const operations = await readOperations(http.app);
    const { result: list } = await sendMcp<{ tools: ToolDescription[] }>(
      mcp,
      path,
      'tools/list',
      {},
    );
    const calls = generateCalls(list.tools);
    const statuses = new Map<string, number>();

    for (const call of calls) {
      http.entries.length = 0;
      mcp.entries.length = 0;
      const operation = operations.get(call.name)!;

      const expected = await sendHttp(http, operation, call);
      const params = { name: call.name, arguments: call.args };
      const { error, result } = await sendMcp<CallResult>(mcp, path, 'tools/call', params);

      const what = JSON.stringify(call);
      if (error) {
        // The whole message is invalid, such as one with NUL in a text: no tool is called.
        expect(error.code, what).toBe(-32700);
        expect(expected.isError, what).toBe(true);
        continue;
      }
      const { content, structuredContent, isError = false } = result;
      expect({ isError, text: content[0]?.text }, what).toEqual(expected);
      expect(structuredContent, what).toEqual(isError ? undefined : JSON.parse(expected.text));
      const [entry, outer] = mcp.entries;
      const { durationMs: _own, via, ...logged } = entry!;
      const { durationMs: _other, via: _none, ...loggedOfHttp } = http.entries[0]!;
      expect(logged, what).toEqual(loggedOfHttp);
      expect({ via, outer: outer?.route }, what).toEqual({ via: 'mcp', outer: path });
      statuses.set(
        `${call.name} ${logged.status}`,
        (statuses.get(`${call.name} ${logged.status}`) ?? 0) + 1,
      );
    }

    const bytes = Buffer.byteLength(JSON.stringify(list));
    if (process.env.FULL)
      console.log(`${service}: ${calls.length} calls, tools/list ${bytes} bytes`, statuses);
    expect(calls.length).toBeGreaterThanOrEqual(CALLS);
    for (const { name } of list.tools)
      expect([...statuses.keys()]).toContainEqual(expect.stringMatching(`^${name} 2`));
  },
);

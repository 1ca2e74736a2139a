import {
  annotate,
  type Context,
  ForbiddenError,
  MethodNotAllowedError,
  type Middleware,
  markFactories,
  UnsupportedMediaTypeError,
} from '@fw/core';
import { BODY_LIMIT_BYTES, hasBody, parseJson, parseMediaType, readBody } from '@fw/core/body';
import { hasParsedBody, isSamePath, setRoute } from '@fw/core/extension';
import { isRecord } from '@fw/core/schema';

import { requireNamedParameters } from '../operation.ts';
import { once } from '../resource.ts';
import { callTool } from './call.ts';
import { type McpOptions, readMcpOptions, type Settings } from './options.ts';
import { selectTools } from './select-tools.ts';
import { createTools, type Tool } from './tools.ts';

export type { McpOptions, ToolCandidate } from './options.ts';

/**
 * Offers the operations of a router as tools for agents: Model Context Protocol, revision 2025-11-25,
 * over Streamable HTTP without sessions. Each call runs through the whole application, as the HTTP request
 * of the same client. GET and QUERY are tools; `tools` adds other operations by name, or selects all of them
 * with a function.
 *
 * ```ts
 * app.use(mcp({ router, info: { title: 'Users', version: '1.0.0' }, tools: ['createUser'] }));
 * app.route('/api/users', router);
 * ```
 *
 * Requests with an `Origin` get 403, unless `origins` has it. A message has at most 1 MiB, a response of
 * an operation too.
 *
 * @throws {TypeError} if an option is unknown or invalid; the application does not become ready if an
 *   operation of `tools` does not exist or cannot be a tool
 */
export function mcp(options: McpOptions): Middleware {
  const settings = readMcpOptions(options);
  const route = { method: 'POST', path: settings.path };
  const server = once(() => createServer(settings));
  const serve = async (ctx: Context) => {
    setRoute(ctx, route);
    if (ctx.method !== 'POST') throw new MethodNotAllowedError(['POST']);
    requireOrigin(ctx, settings.origins);
    const message = await readMessage(ctx);
    const reply = await respond(ctx, message, await server());
    if (!ctx.responded) send(ctx, reply); // a time limit may have responded during the call
  };
  const middleware: Middleware = (ctx, next) =>
    ctx.responded || !isSamePath(ctx.path, settings.path) ? next() : serve(ctx);
  return annotate(middleware, {
    onReady() {
      const routes = selectTools(settings);
      if (!settings.toJsonSchema) requireNamedParameters(routes);
    },
  });
}

markFactories({ mcp });

/** What the messages are about. */
interface McpServer {
  readonly settings: Settings;
  readonly tools: ReadonlyMap<string, Tool>;
  /** The results of `tools/list`, as JSON. */
  readonly pages: readonly string[];
}

const PAGE_SIZE = 50;

async function createServer(settings: Settings): Promise<McpServer> {
  const tools = await createTools(selectTools(settings), settings.toJsonSchema);
  const descriptions = [...tools.values()].map(({ description }) => description);
  const count = Math.max(1, Math.ceil(descriptions.length / PAGE_SIZE));
  const pages = Array.from({ length: count }, (_, page) =>
    JSON.stringify({
      tools: descriptions.slice(page * PAGE_SIZE, (page + 1) * PAGE_SIZE),
      nextCursor: page + 1 < count ? String(page + 1) : undefined,
    }),
  );
  return { settings, tools, pages };
}

/** Browsers send `Origin`: a page of another site must not use the network of its reader (DNS rebinding). */
function requireOrigin(ctx: Context, origins: readonly string[]): void {
  const origin = ctx.get('origin');
  if (origin === undefined || origins.includes(origin)) return;
  throw new ForbiddenError(`The origin "${origin.slice(0, 200)}" is not allowed`);
}

const JSON_TYPE = 'application/json';

/** The JSON in the body, which a body parser may have read before; the error if it cannot be parsed. */
async function readMessage(ctx: Context): Promise<unknown> {
  const type = ctx.get('content-type') ?? '';
  if (type !== JSON_TYPE && parseMediaType(type)?.type !== JSON_TYPE) {
    throw new UnsupportedMediaTypeError(`The body must be ${JSON_TYPE}`);
  }
  const { req, res } = ctx.raw;
  if (hasParsedBody(ctx)) return ctx.body;
  if (req.readableEnded) return undefined;
  if ((ctx.get('content-encoding') ?? 'identity') !== 'identity') {
    throw new UnsupportedMediaTypeError('The body must have no content coding');
  }
  const isThere = hasBody(req);
  const bytes = isThere
    ? await readBody(req, res, { limitBytes: BODY_LIMIT_BYTES })
    : Buffer.alloc(0);
  try {
    return parseJson(bytes, 'message');
  } catch (error) {
    return error;
  }
}

/** A response: to a request with an id, or to a message that has none. */
interface Reply {
  readonly id: string | number | null;
  /** The member `result` or `error` of the response, as JSON. */
  readonly member: string;
}

const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const PARSE_ERROR = -32700;

/** An error of the protocol (JSON-RPC 2.0 §5.1); not that of an operation. */
function errorOf(code: number, message: string): string {
  return `"error":${JSON.stringify({ code, message })}`;
}

function refuse(code: number, message: string): Reply {
  return { id: null, member: errorOf(code, message) };
}

/** `undefined` for a notification, and for a response: the server sends no requests. */
async function respond(
  ctx: Context,
  message: unknown,
  server: McpServer,
): Promise<Reply | undefined> {
  const version = ctx.get('mcp-protocol-version');
  if (version !== undefined && !VERSIONS.includes(version)) {
    return refuse(-32000, `Unsupported protocol version; supported: ${VERSIONS.join(', ')}`);
  }
  if (message instanceof Error) return refuse(PARSE_ERROR, message.message);
  if (!isRecord(message) || message.jsonrpc !== '2.0') {
    return refuse(INVALID_REQUEST, 'The message must be one object of JSON-RPC 2.0');
  }
  const { id, method, params = {} } = message;
  if (typeof method !== 'string') {
    const isResponse = 'result' in message || 'error' in message;
    return isResponse ? undefined : refuse(INVALID_REQUEST, 'The method must be a string');
  }
  if (id === undefined) return undefined;
  if (typeof id !== 'string' && !(typeof id === 'number' && Number.isSafeInteger(id))) {
    return refuse(INVALID_REQUEST, 'The id must be a string or a whole number');
  }
  if (!isRecord(params)) {
    return { id, member: errorOf(INVALID_PARAMS, 'The params must be an object') };
  }
  return { id, member: await run(ctx, { method, params }, server) };
}

interface Request {
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
}

async function run(ctx: Context, { method, params }: Request, server: McpServer): Promise<string> {
  switch (method) {
    case 'initialize':
      return initialize(params, server);
    case 'ping':
      return '"result":{}';
    case 'tools/list':
      return list(params, server);
    case 'tools/call':
      return call(ctx, params, server);
    default:
      return errorOf(METHOD_NOT_FOUND, `Unknown method "${method.slice(0, 100)}"`);
  }
}

/** The newest first; 2025-03-26 would also require batches. */
const VERSIONS = ['2025-11-25', '2025-06-18'];

function initialize({ protocolVersion }: Request['params'], { settings }: McpServer): string {
  if (typeof protocolVersion !== 'string') {
    return errorOf(INVALID_PARAMS, 'protocolVersion must be a string');
  }
  const { title, version, description } = settings.info;
  const result = {
    protocolVersion: VERSIONS.includes(protocolVersion) ? protocolVersion : VERSIONS[0],
    capabilities: { tools: {} },
    serverInfo: { name: title, title, version },
    instructions: description,
  };
  return `"result":${JSON.stringify(result)}`;
}

function list({ cursor = '0' }: Request['params'], { pages }: McpServer): string {
  const page = pages.find((_, at) => cursor === `${at}`);
  return page === undefined ? errorOf(INVALID_PARAMS, 'Unknown cursor') : `"result":${page}`;
}

async function call(
  ctx: Context,
  { name, arguments: args = {} }: Request['params'],
  { tools }: McpServer,
): Promise<string> {
  if (typeof name !== 'string') return errorOf(INVALID_PARAMS, 'The name must be a string');
  const tool = tools.get(name);
  if (!tool) return errorOf(INVALID_PARAMS, `Unknown tool "${name.slice(0, 100)}"`);
  if (!isRecord(args)) return errorOf(INVALID_PARAMS, 'The arguments must be an object');
  return `"result":${await callTool(ctx, tool, args)}`;
}

/** 202 without a reply, 400 with an error that belongs to no request, else 200. */
function send(ctx: Context, reply: Reply | undefined): void {
  if (reply === undefined) {
    ctx.send('');
    ctx.status = 202;
    return;
  }
  const { id, member } = reply;
  ctx.set('Content-Type', JSON_TYPE);
  ctx.send(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}`);
  ctx.status = id === null ? 400 : 200;
}

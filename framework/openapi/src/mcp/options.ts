import {
  aListOf,
  anObjectWith,
  aString,
  badOption,
  check,
  likelyMeant,
  readOptions,
} from '@fw/core/options';

import {
  aPath,
  DOCUMENT_CHECKS,
  type GenerateDocumentOptions,
  normalizePath,
} from '../document.ts';
import type { RouteSource } from '../options.ts';
import { isStreaming } from '../responses.ts';
import { type DocumentedRoute, selectRoutes } from '../select-routes.ts';

export interface McpOptions extends Pick<GenerateDocumentOptions, 'toJsonSchema' | 'info'> {
  /** The router with the operations, including mounted routers. */
  readonly router: RouteSource;
  /** Path of the endpoint. Default `/mcp`. */
  readonly path?: string;
  /** The operation ids of further tools: neither GET nor QUERY. Default none. */
  readonly tools?: readonly string[];
  /** The origins of web pages that may send requests, such as `https://app.example.com`. Default none. */
  readonly origins?: readonly string[];
}

/** The options with defaults applied. */
export type Settings = ReturnType<typeof readMcpOptions>;

const OWNER = 'mcp()';

const anOrigin = check('an origin', (value) => {
  const url = typeof value === 'string' ? URL.parse(value) : null;
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === value;
});

/** @throws {TypeError} if an option is unknown or invalid */
export function readMcpOptions(options: McpOptions) {
  const {
    router,
    path = '/mcp',
    tools = [],
    origins = [],
    info: { title = 'API', version = '1.0.0', description } = {},
    toJsonSchema,
  } = readOptions<McpOptions>(OWNER, options, {
    router: { ...anObjectWith('an object with getRoutes()', ['getRoutes']), isRequired: true },
    path: aPath,
    tools: aListOf('a list of operation ids', aString),
    origins: aListOf('a list of origins such as ["https://app.example.com"]', anOrigin),
    info: DOCUMENT_CHECKS.info,
    toJsonSchema: DOCUMENT_CHECKS.toJsonSchema,
  });
  const info = { title, version, description };
  return { router, path: normalizePath(path), tools, origins, info, toJsonSchema };
}

/**
 * The operations that are tools.
 *
 * @throws {TypeError} if a name of `tools` is no operation, or an operation cannot be a tool
 */
export function offeredRoutes({ router, tools }: Settings): readonly DocumentedRoute[] {
  const routes = selectRoutes(router.getRoutes());
  const names = routes.map(({ operationId }) => operationId);
  const unknown = tools.find((name) => !names.includes(name));
  if (unknown !== undefined) {
    const meant = likelyMeant(unknown, names);
    const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
    const expected = `the id of an operation${hint}`;
    throw badOption(OWNER, { name: 'tools', value: unknown, expected });
  }
  const offered = routes.filter(
    (route) =>
      tools.includes(route.operationId) ||
      ((route.method === 'GET' || route.method === 'QUERY') && hasEnd(route)),
  );
  for (const route of offered) requireTool(route);
  return offered;
}

/** Whether the response is complete at some time: an event stream or a WebSocket is open until a side closes it. */
function hasEnd({ metadata }: DocumentedRoute): boolean {
  return !isStreaming(metadata) && metadata.responses[101] === undefined;
}

/**
 * @throws {TypeError} if the name is invalid (MCP 2025-11-25, Tool Names), the body is not JSON, or the
 *   response has no end
 */
function requireTool(route: DocumentedRoute): void {
  const { method, path, operationId, metadata } = route;
  const types = metadata.body?.mediaTypes ?? [];
  const reason = !/^[\w.-]{1,128}$/.test(operationId)
    ? 'its operationId must have 1 to 128 characters of [A-Za-z0-9_.-]'
    : method !== 'GET' && types.length > 0 && !types.some((type) => /[/+]json$/.test(type))
      ? `its body is ${types.join(', ')}, and arguments are JSON`
      : hasEnd(route)
        ? undefined
        : 'its response is an event stream or a WebSocket, which has no end';
  if (reason === undefined) return;
  throw new TypeError(`Cannot offer ${method} ${path} as a tool: ${reason}`);
}

import { aFunction, aListOf, anObjectWith, aString, check, readOptions } from '@fw/core/options';

import {
  aPath,
  DOCUMENT_CHECKS,
  type GenerateDocumentOptions,
  normalizePath,
} from '../document.ts';
import type { RouteSource } from '../options.ts';

/** An operation that `tools` may select. */
export interface ToolCandidate {
  /** As in the document: that of `endpoint()`, or derived from the method and the path. */
  readonly operationId: string;
  readonly method: string;
  /** The pattern of the route, such as `/users/:id`. */
  readonly path: string;
  readonly tags: readonly string[];
}

export interface McpOptions extends Pick<GenerateDocumentOptions, 'toJsonSchema' | 'info'> {
  /** The router with the operations, including mounted routers. */
  readonly router: RouteSource;
  /** Path of the endpoint. Default `/mcp`. */
  readonly path?: string;
  /**
   * The ids of operations that are tools in addition to those with GET and QUERY; or a function that returns
   * whether an operation is a tool, also one with GET. Default: all with GET and QUERY.
   */
  readonly tools?: readonly string[] | ((operation: ToolCandidate) => boolean);
  /** The origins of web pages that may send requests, such as `https://app.example.com`. Default none. */
  readonly origins?: readonly string[];
}

/** The options with defaults applied. */
export type Settings = ReturnType<typeof readMcpOptions>;

const aList = aListOf('', aString);
const aSelection = check(
  'a list of operation ids, or a function',
  (value) => aFunction.accepts(value) || aList.accepts(value),
);

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
  } = readOptions<McpOptions>('mcp()', options, {
    router: { ...anObjectWith('an object with getRoutes()', ['getRoutes']), isRequired: true },
    path: aPath,
    tools: aSelection,
    origins: aListOf('a list of origins such as ["https://app.example.com"]', anOrigin),
    info: DOCUMENT_CHECKS.info,
    toJsonSchema: DOCUMENT_CHECKS.toJsonSchema,
  });
  const info = { title, version, description };
  return { router, path: normalizePath(path), tools, origins, info, toJsonSchema };
}

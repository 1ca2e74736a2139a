import type { RouteDefinition } from '@fw/core';
import {
  aBoolean,
  aListOf,
  anObject,
  anObjectWith,
  badOption,
  check,
  oneOf,
  readOptions,
} from '@fw/core/options';

import { DEFAULT_CDN, type DocsPage } from './docs/docs-page.ts';
import {
  aPath,
  DOCUMENT_CHECKS,
  type GenerateDocumentOptions,
  isPath,
  normalizePath,
} from './document.ts';

/** A source of routes: a router. */
export interface RouteSource {
  getRoutes(): readonly RouteDefinition[];
  /** The paths among them that no application serves. */
  unservedPaths?(): readonly string[];
}

export interface OpenApiOptions extends GenerateDocumentOptions {
  /** The router to document, including mounted routers. */
  readonly router?: RouteSource;
  /** Several routers; either this or `router` is required. */
  readonly routers?: readonly RouteSource[];
  /** Path of the document. Default `/openapi.json`. */
  readonly path?: string;
  /** Path of the documentation page, `false` for none, or another page. Default `/docs`. */
  readonly docs?: string | false | DocsPage;
  /** If false, requests reach the next middleware. Default true. */
  readonly enabled?: boolean;
}

/** The options with defaults applied. */
export type Settings = ReturnType<typeof readOpenApiOptions>;

const UIS: readonly Required<DocsPage>['ui'][] = ['fw', 'scalar', 'swagger'];
const OWNER = 'openapi()';

const aRouter = anObjectWith('an object with getRoutes()', ['getRoutes']);

/**
 * Reads the options of `openapi()`.
 *
 * @throws {TypeError} if an option is unknown or invalid
 */
export function readOpenApiOptions(options: OpenApiOptions) {
  const {
    router,
    routers = router ? [router] : [],
    enabled = true,
    path = '/openapi.json',
    docs = '/docs',
    ...document
  } = readOptions<OpenApiOptions>(OWNER, options, {
    router: aRouter,
    routers: aListOf('a list of objects with getRoutes()', aRouter),
    path: aPath,
    docs: check(
      'a path, false, or an object such as { ui: "scalar" }',
      (value) => value === false || isPath(value) || anObject.accepts(value),
    ),
    enabled: aBoolean,
    ...DOCUMENT_CHECKS,
  });
  if (router && options.routers) {
    throw badOption(OWNER, {
      name: 'routers',
      value: routers,
      expected: 'either router or routers',
    });
  }
  if (routers.length === 0) {
    const expected = 'a router, or a list of them in routers';
    throw badOption(OWNER, { name: 'router', value: router, expected });
  }
  const settings = {
    routers,
    path: normalizePath(path),
    docs: docs === false ? undefined : readDocs(docs),
    enabled,
    document,
  };
  if (settings.docs?.path === settings.path) {
    const expected = 'another path than the document';
    throw badOption(OWNER, { name: 'docs', value: docs, expected });
  }
  return settings;
}

function readDocs(docs: string | DocsPage): Required<DocsPage> {
  const given = typeof docs === 'string' ? { path: docs } : docs;
  const {
    path = '/docs',
    ui = 'fw',
    cdn = DEFAULT_CDN,
  } = readOptions<DocsPage>(`docs of ${OWNER}`, given, {
    path: aPath,
    ui: oneOf(UIS),
    cdn: check(
      `an http URL such as "${DEFAULT_CDN}"`,
      (value) => typeof value === 'string' && /^https?:/.test(URL.parse(value)?.protocol ?? ''),
    ),
  });
  return { path: normalizePath(path), ui, cdn };
}

import { readPattern } from '@fw/core';
import type { RouteDefinition } from '@fw/router';

import { DEFAULT_CDN, type DocsPage } from './docs-page.ts';
import type { GenerateDocumentOptions } from './document.ts';

/** Anything that knows its routes: a router. */
export interface RouteSource {
  getRoutes(): readonly RouteDefinition[];
}

export interface OpenApiOptions extends GenerateDocumentOptions {
  /** The router whose routes are documented; those mounted on it are among them. */
  readonly router?: RouteSource;
  /** Several of them; either this or `router` is required. */
  readonly routers?: readonly RouteSource[];
  /** Where the document is served. Default `/openapi.json`. */
  readonly path?: string;
  /** Where the page to read it is served, `false` for none, or another page. Default `/docs`. */
  readonly docs?: string | false | DocsPage;
  /** Whether anything is served at all; if not, requests go on to the next middleware. Default true. */
  readonly enabled?: boolean;
}

/** The options as they are used, each one present. */
export interface Settings {
  readonly routers: readonly RouteSource[];
  readonly path: string;
  readonly docs: Required<DocsPage> | undefined;
  readonly enabled: boolean;
  readonly document: GenerateDocumentOptions;
}

const NAMES = [
  'router',
  'routers',
  'info',
  'path',
  'docs',
  'exclude',
  'enabled',
  'toJsonSchema',
  'servers',
  'securitySchemes',
];
const UIS = ['fw', 'scalar', 'swagger'];

/**
 * Reads the options of `openapi()`.
 *
 * @throws {TypeError} naming the option, its value and what was expected
 */
export function readOptions(options: OpenApiOptions): Settings {
  refuseUnknown('', options, NAMES);
  const { router, routers = router ? [router] : [], enabled = true } = options;
  const { path = '/openapi.json', docs = '/docs', ...rest } = options;
  if (router && options.routers) throw bad('routers', routers, 'either router or routers');
  if (!Array.isArray(routers)) throw bad('routers', routers, 'a list of routers');
  if (routers.length === 0) throw bad('router', router, 'a router, or a list of them in routers');
  for (const each of routers as readonly Partial<RouteSource>[]) {
    if (typeof each?.getRoutes !== 'function') {
      throw bad(router ? 'router' : 'routers', each, 'an object with getRoutes()');
    }
  }
  if (typeof enabled !== 'boolean') throw bad('enabled', enabled, 'true or false');
  const settings = {
    routers,
    path: readPath('path', path),
    docs: readDocs(docs),
    enabled,
    document: readDocumentOptions(rest),
  };
  if (settings.docs?.path === settings.path)
    throw bad('docs', docs, 'another path than the document');
  return settings;
}

function readDocumentOptions(options: GenerateDocumentOptions): GenerateDocumentOptions {
  const { info, exclude, toJsonSchema, servers, securitySchemes } = options;
  if (info !== undefined) {
    if (!isObject(info)) throw bad('info', info, 'an object such as { title, version }');
    for (const name of ['title', 'version', 'description']) {
      const text = info[name];
      if (text !== undefined && typeof text !== 'string') throw bad(`info.${name}`, text, 'a text');
    }
  }
  if (exclude !== undefined) {
    if (!Array.isArray(exclude)) throw bad('exclude', exclude, 'a list of paths');
    for (const path of exclude) readPath('exclude', path);
  }
  if (toJsonSchema !== undefined && typeof toJsonSchema !== 'function') {
    throw bad('toJsonSchema', toJsonSchema, 'a function');
  }
  if (servers !== undefined) {
    const isList = Array.isArray(servers) && servers.length > 0;
    if (!isList || servers.some((server) => typeof server?.url !== 'string')) {
      throw bad('servers', servers, 'a list such as [{ url: "https://api.example.com" }]');
    }
  }
  if (securitySchemes !== undefined && !isObject(securitySchemes)) {
    throw bad('securitySchemes', securitySchemes, 'an object of schemes by name');
  }
  return {
    ...(info && { info }),
    ...(exclude && { exclude }),
    ...(toJsonSchema && { toJsonSchema }),
    ...(servers && { servers }),
    ...(securitySchemes && { securitySchemes }),
  };
}

function readDocs(docs: unknown): Required<DocsPage> | undefined {
  if (docs === false) return undefined;
  if (typeof docs === 'string') return { path: readPath('docs', docs), ui: 'fw', cdn: DEFAULT_CDN };
  if (!isObject(docs))
    throw bad('docs', docs, 'a path, false, or an object such as { ui: "scalar" }');
  refuseUnknown('docs.', docs, ['path', 'ui', 'cdn']);
  const { path = '/docs', ui = 'fw', cdn = DEFAULT_CDN } = docs;
  if (!isUi(ui)) throw bad('docs.ui', ui, UIS.map((name) => `"${name}"`).join(' or '));
  if (typeof cdn !== 'string' || !/^https?:$/.test(URL.parse(cdn)?.protocol ?? '')) {
    throw bad('docs.cdn', cdn, `an http URL such as "${DEFAULT_CDN}"`);
  }
  return { path: readPath('docs.path', path), ui, cdn };
}

function isUi(value: unknown): value is Required<DocsPage>['ui'] {
  return typeof value === 'string' && UIS.includes(value);
}

/** A path in the normal form of request paths, without a slash at its end. */
function readPath(name: string, value: unknown): string {
  if (typeof value !== 'string' || !value.startsWith('/')) {
    throw bad(name, value, 'a path that starts with "/"');
  }
  const path = readPattern(value, `Cannot read option ${name} of openapi()`);
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function refuseUnknown(place: string, options: object, names: readonly string[]): void {
  if (!isObject(options)) throw bad('options', options, 'an object with a router');
  const unknown = Object.keys(options).find((name) => !names.includes(name));
  if (unknown === undefined) return;
  throw new TypeError(
    `Cannot read option ${place}${unknown} of openapi(): expected one of ${names.join(', ')}`,
  );
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function bad(name: string, value: unknown, expected: string): TypeError {
  return new TypeError(
    `Cannot read option ${name} "${show(value)}" of openapi(): expected ${expected}`,
  );
}

function show(value: unknown): string {
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);
}

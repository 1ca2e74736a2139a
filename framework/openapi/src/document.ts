import type { RouteDefinition } from '@fw/core';
import { readPattern } from '@fw/core/extension';
import { aFunction, aListOf, anObject, check, oneOf, readOptions } from '@fw/core/options';

import { Components } from './components.ts';
import { describeOperation, type Operation, type ToJsonSchema } from './operation.ts';
import { isStreaming } from './responses.ts';
import { selectRoutes } from './select-routes.ts';

/** The `info` of a document; further fields are copied. */
export interface OpenApiInfo {
  /** Default `API`. */
  readonly title?: string;
  /** Default `1.0.0`. */
  readonly version?: string;
  /** In CommonMark. */
  readonly description?: string;
  readonly [field: string]: unknown;
}

/** An address of the API: a server object of OpenAPI. */
export interface Server {
  readonly url: string;
  readonly description?: string;
}

export interface GenerateDocumentOptions {
  /**
   * The version of OpenAPI. 3.2 also describes QUERY and event streams, but many tools read only 3.1.
   * Default `3.1`.
   */
  readonly openapi?: '3.1' | '3.2';
  readonly info?: OpenApiInfo;
  /** Path prefixes to leave out. Default none. */
  readonly exclude?: readonly string[];
  /** Overrides the conversion of schemas; return `undefined` for the default conversion. */
  readonly toJsonSchema?: ToJsonSchema;
  /** Base URLs of the API. Default `/`: the origin of the document. */
  readonly servers?: readonly Server[];
  /** The schemes that `security` uses. Default: those of the guards, else bearer tokens. */
  readonly securitySchemes?: Readonly<Record<string, unknown>>;
}

/** The operations of one path. Methods unknown to the version have the prefix `x-`: `x-query` in 3.1. */
export type PathItem = Readonly<Record<string, Operation>>;

/** An OpenAPI document. */
export interface OpenApiDocument {
  readonly openapi: '3.1.1' | '3.2.0';
  readonly info: OpenApiInfo & { readonly title: string; readonly version: string };
  readonly servers: readonly Server[];
  readonly security: readonly never[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Generates an OpenAPI document of `routes`. Routes with the visibility `internal` are left out, and event
 * streams in version 3.1, which cannot describe them. A route without metadata becomes an untyped operation.
 *
 * @throws {TypeError} if an option is invalid, or if two routes contradict each other in the document
 */
export async function generateDocument(
  routes: readonly RouteDefinition[],
  options: GenerateDocumentOptions = {},
): Promise<OpenApiDocument> {
  const { openapi = '3.1' } = readOptions('generateDocument()', options, DOCUMENT_CHECKS);
  const components = new Components();
  const paths = new Map<string, Record<string, Operation>>();
  const selected = selectRoutes(routes, options.exclude).filter(
    ({ metadata }) => openapi === '3.2' || !isStreaming(metadata),
  );
  for (const route of selected) {
    const item = paths.get(route.template) ?? {};
    item[fieldOf(route.method, openapi)] = await describeOperation(route, {
      components,
      toJsonSchema: options.toJsonSchema,
    });
    paths.set(route.template, item);
  }

  const operations = [...paths.values()].flatMap((item) => Object.values(item));
  const securitySchemes = readSecuritySchemes(operations, [
    ...selected.map(({ metadata }) => metadata.securitySchemes),
    options.securitySchemes ?? {},
  ]);
  const { title = 'API', version = '1.0.0', ...info } = options.info ?? {};
  return {
    openapi: openapi === '3.1' ? '3.1.1' : '3.2.0',
    info: { title, version, ...info },
    servers: options.servers ?? [{ url: '/' }],
    security: [],
    paths: Object.fromEntries(paths),
    components: { ...components.toJSON(), ...(securitySchemes && { securitySchemes }) },
  };
}

/** The methods that a path item of OpenAPI 3.1 has a field for. */
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];

function fieldOf(method: string, openapi: '3.1' | '3.2'): string {
  const name = method.toLowerCase();
  const isKnown = METHODS.includes(method) || (method === 'QUERY' && openapi === '3.2');
  return isKnown ? name : `x-${name}`;
}

const BEARER = { type: 'http', scheme: 'bearer' };

/** All given and used schemes, so that no operation refers to a missing one; the last of a name counts. */
function readSecuritySchemes(
  operations: readonly Operation[],
  given: readonly Readonly<Record<string, unknown>>[],
): Readonly<Record<string, unknown>> | undefined {
  const used = operations.flatMap(({ security = [] }) => security.flatMap(Object.keys));
  const schemes = Object.assign(Object.fromEntries(used.map((name) => [name, BEARER])), ...given);
  return Object.keys(schemes).length > 0 ? schemes : undefined;
}

export const aPath = check('a path that starts with "/"', isPath);

/** What the options of a document accept. */
export const DOCUMENT_CHECKS = {
  openapi: oneOf(['3.1', '3.2']),
  info: check('an object such as { title, version } of strings', isInfo),
  exclude: aListOf('a list of paths such as ["/internal"]', aPath),
  toJsonSchema: aFunction,
  servers: check(
    'a list such as [{ url: "https://api.example.com" }]',
    (value) => Array.isArray(value) && value.length > 0 && value.every(isServer),
  ),
  securitySchemes: anObject,
};

export function isPath(value: unknown): boolean {
  try {
    return typeof value === 'string' && readPattern(value, '') !== '';
  } catch {
    return false;
  }
}

/** A path in the normal form of request paths, without a trailing slash. */
export function normalizePath(value: string): string {
  const path = readPattern(value, '');
  return path.length > 1 && path.endsWith('/') ? path.slice(0, -1) : path;
}

function isInfo(value: unknown): boolean {
  return (
    anObject.accepts(value) &&
    ['title', 'version', 'description']
      .map((name): unknown => Reflect.get(Object(value), name))
      .every((text) => text === undefined || typeof text === 'string')
  );
}

function isServer(server: unknown): boolean {
  return anObject.accepts(server) && typeof Reflect.get(Object(server), 'url') === 'string';
}

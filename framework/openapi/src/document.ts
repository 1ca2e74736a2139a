import { createPrefixTest } from '@fw/core/extension';
import { readOptions } from '@fw/core/options';
import type { RouteDefinition } from '@fw/router';

import { Components } from './components.ts';
import type { ToJsonSchema } from './json-schema.ts';
import { readMetadata } from './metadata.ts';
import { type DocumentedRoute, describeOperation, type Operation } from './operation.ts';
import { DOCUMENT_CHECKS } from './options.ts';
import { toOpenApiPath } from './paths.ts';

/** The `info` of a document; more of its fields are handed on as they are. */
export interface OpenApiInfo {
  /** Default `API`. */
  readonly title?: string;
  /** Default `1.0.0`. */
  readonly version?: string;
  /** In CommonMark. */
  readonly description?: string;
  readonly [field: string]: unknown;
}

export interface Server {
  readonly url: string;
  readonly description?: string;
}

export interface GenerateDocumentOptions {
  readonly info?: OpenApiInfo;
  /** Paths that are left out, with all below them. Default none. */
  readonly exclude?: readonly string[];
  /** Overrides how schemas become JSON Schema; `undefined` leaves one to the converters. */
  readonly toJsonSchema?: ToJsonSchema;
  /** Where the API is reached. Default `/`: at the document's own origin. */
  readonly servers?: readonly Server[];
  /** The schemes that `security` names. Default: each is a bearer token. */
  readonly securitySchemes?: Readonly<Record<string, unknown>>;
}

/** The operations of one path. A method that OpenAPI 3.1 does not know stands under `x-`: `x-query`. */
export type PathItem = Readonly<Record<string, Operation>>;

export interface OpenApiDocument {
  readonly openapi: '3.1.1';
  readonly info: OpenApiInfo & { readonly title: string; readonly version: string };
  readonly servers: readonly Server[];
  readonly security: readonly never[];
  readonly paths: Readonly<Record<string, PathItem>>;
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/**
 * Describes `routes` by an OpenAPI 3.1.1 document. Routes whose endpoint is `internal` are left out;
 * one without metadata is an untyped operation.
 */
export async function generateDocument(
  routes: readonly RouteDefinition[],
  options: GenerateDocumentOptions = {},
): Promise<OpenApiDocument> {
  readOptions('generateDocument()', options, DOCUMENT_CHECKS);
  const components = new Components();
  const paths = new Map<string, Record<string, Operation>>();
  for (const route of selectRoutes(routes, options.exclude ?? [])) {
    const item = paths.get(route.template) ?? {};
    item[fieldOf(route.method)] = await describeOperation(route, {
      components,
      toJsonSchema: options.toJsonSchema,
    });
    paths.set(route.template, item);
  }

  const operations = [...paths.values()].flatMap((item) => Object.values(item));
  const securitySchemes = readSecuritySchemes(operations, options.securitySchemes);
  const { title = 'API', version = '1.0.0', ...info } = options.info ?? {};
  return {
    openapi: '3.1.1',
    info: { title, version, ...info },
    servers: options.servers ?? [{ url: '/' }],
    security: [],
    paths: Object.fromEntries(paths),
    components: { ...components.toJSON(), ...(securitySchemes && { securitySchemes }) },
  };
}

/** The routes that belong into a document, each once, with names that are unique there. */
function selectRoutes(
  routes: readonly RouteDefinition[],
  exclude: readonly string[],
): DocumentedRoute[] {
  const isExcluded = exclude.map((prefix) => createPrefixTest(prefix));
  const templates = new Map<string, string>();
  const operationIds = new Set<string>();
  const placed = new Map<string, DocumentedRoute>();
  for (const { method, path, metadata: said } of routes) {
    const metadata = readMetadata(said);
    if (metadata.endpoint.visibility === 'internal') continue;
    if (isExcluded.some((test) => test(path))) continue;
    const template = shareTemplate(templates, toOpenApiPath(path));
    const key = `${method} ${template}`;
    if (placed.has(key)) continue;
    const operationId = unique(operationIds, metadata.endpoint.operationId ?? nameOf(method, path));
    const paramNames = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
    placed.set(key, { method, path, metadata, template, operationId, paramNames });
  }
  return [...placed.values()];
}

/** Paths that differ only in the names of their parameters are one path: the first names count. */
function shareTemplate(templates: Map<string, string>, template: string): string {
  const shape = template.replace(/\{[^}]+\}/g, '{}');
  const shared = templates.get(shape) ?? template;
  templates.set(shape, shared);
  return shared;
}

function unique(taken: Set<string>, wanted: string): string {
  let name = wanted;
  for (let number = 2; taken.has(name); number++) name = `${wanted}_${number}`;
  taken.add(name);
  return name;
}

/** An operation's name made from its route: `GET /users/:id` is `getUsersById`. */
function nameOf(method: string, path: string): string {
  const words = toOpenApiPath(path)
    .replace(/\{([^}]+)\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]+/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase().replace(/[^a-z]/g, '') + (words.join('') || 'Root');
}

/** The methods that a path item of OpenAPI 3.1 has a field for. */
const METHODS = ['GET', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'HEAD', 'PATCH', 'TRACE'];

function fieldOf(method: string): string {
  const name = method.toLowerCase();
  return METHODS.includes(method) ? name : `x-${name}`;
}

const BEARER = { type: 'http', scheme: 'bearer' };

/** Every scheme that is given or used, so that no operation names one that is missing. */
function readSecuritySchemes(
  operations: readonly Operation[],
  given: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> | undefined {
  const used = operations.flatMap(({ security = [] }) => security.flatMap(Object.keys));
  const schemes = { ...Object.fromEntries(used.map((name) => [name, BEARER])), ...given };
  return Object.keys(schemes).length > 0 ? schemes : undefined;
}

import { isDeepStrictEqual } from 'node:util';
import type { RouteDefinition } from '@fw/core';
import { createPrefixTest } from '@fw/core/extension';

import { type DocumentedMetadata, PARTS, readMetadata } from './metadata.ts';
import { type PathParam, readPathParams, toOpenApiPath } from './paths.ts';

interface UnnamedRoute {
  readonly method: string;
  readonly path: string;
  readonly metadata: DocumentedMetadata;
  /** The path in OpenAPI syntax. */
  readonly template: string;
  /** The parameters in the path, with their names in `template`. */
  readonly pathParams: readonly PathParam[];
}

/** A route to document. */
export interface DocumentedRoute extends UnnamedRoute {
  readonly operationId: string;
}

/**
 * The routes of a document, each once, with unique operation ids.
 *
 * @throws {TypeError} if two routes are the same operation of the document, or have the same operation id
 */
export function selectRoutes(
  routes: readonly RouteDefinition[],
  exclude: readonly string[] = [],
): DocumentedRoute[] {
  const isExcluded = exclude.map((prefix) => createPrefixTest(prefix));
  const templates = new Map<string, string>();
  const placed = new Map<string, UnnamedRoute>();
  for (const { method, path, metadata: given } of routes) {
    const metadata = readMetadata(given);
    if (metadata.endpoint.visibility === 'internal') continue;
    if (isExcluded.some((test) => test(path))) continue;
    const template = shareTemplate(templates, toOpenApiPath(path));
    const names = [...template.matchAll(/\{([^}]+)\}/g)].map(([, name = '']) => name);
    const pathParams = readPathParams(path).map((param, index) => ({
      ...param,
      name: names[index] ?? param.name,
    }));
    const route = { method, path, metadata, template, pathParams };
    const other = placed.get(`${method} ${template}`);
    if (other) requireSame(route, other);
    else placed.set(`${method} ${template}`, route);
  }
  return nameOperations([...placed.values()]);
}

/** Paths that differ only in parameter names are one path, with the first names. */
function shareTemplate(templates: Map<string, string>, template: string): string {
  const shape = template.replace(/\{[^}]+\}/g, '{}');
  const shared = templates.get(shape) ?? template;
  templates.set(shape, shared);
  return shared;
}

/** The same route appears twice if both a router and one that is mounted on it are documented. */
function requireSame(route: UnnamedRoute, other: UnnamedRoute): void {
  const name = `${route.method} ${route.path}`;
  if (route.path !== other.path) {
    throw new TypeError(
      `Cannot document ${name}: ${other.path} is already ${other.method} ${other.template} in the ` +
        `document; exclude one of them with endpoint({ visibility: 'internal' })`,
    );
  }
  const { endpoint, validation = {} } = route.metadata;
  const isSame =
    isDeepStrictEqual(endpoint, other.metadata.endpoint) &&
    PARTS.every((part) => {
      const [schema, second] = [validation[part], other.metadata.validation?.[part]];
      return schema === undefined || second === undefined || schema === second;
    });
  if (isSame) return;
  throw new TypeError(
    `Cannot document ${name}: two routers have this route, and the second never runs; remove one of them`,
  );
}

/** Adds the operation ids: those of `endpoint()`, and for other routes the path in words. */
function nameOperations(routes: readonly UnnamedRoute[]): DocumentedRoute[] {
  const used = new Map<string, UnnamedRoute>();
  for (const route of routes) {
    const { operationId } = route.metadata.endpoint;
    if (operationId === undefined) continue;
    const other = used.get(operationId);
    if (other) {
      throw new TypeError(
        `Cannot document ${route.method} ${route.path}: its operationId "${operationId}" is that of ` +
          `${other.method} ${other.path}`,
      );
    }
    used.set(operationId, route);
  }
  return routes.map((route) => {
    const { operationId = unusedName(route, used) } = route.metadata.endpoint;
    used.set(operationId, route);
    return { ...route, operationId };
  });
}

function unusedName({ method, path }: UnnamedRoute, used: ReadonlyMap<string, unknown>): string {
  const base = wordsOf(method, path);
  let name = base;
  for (let number = 2; used.has(name); number++) name = `${base}_${number}`;
  return name;
}

/** The default operation id: `GET /users/:id` becomes `getUsersById`. */
function wordsOf(method: string, path: string): string {
  const words = toOpenApiPath(path)
    .replace(/\{([^}]+)\}/g, 'by-$1')
    .split(/[^A-Za-z0-9]/)
    .filter(Boolean)
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return method.toLowerCase().replace(/[^a-z]/g, '') + (words.join('') || 'Root');
}

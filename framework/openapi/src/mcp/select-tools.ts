import { badOption, likelyMeant } from '@fw/core/options';

import { isStreaming } from '../responses.ts';
import { type DocumentedRoute, selectRoutes } from '../select-routes.ts';
import type { Settings, ToolCandidate } from './options.ts';

/**
 * Selects the operations that are tools: those with GET and QUERY, and those in the option `tools`; or those
 * for which it returns true.
 *
 * @throws {TypeError} if a name of `tools` is no operation, or an operation cannot be a tool
 */
export function selectTools({ router, tools }: Settings): readonly DocumentedRoute[] {
  const routes = selectRoutes(router.getRoutes());
  if (typeof tools !== 'function') requireOperations(tools, routes);
  const isOffered = (route: DocumentedRoute) =>
    typeof tools === 'function'
      ? hasEnd(route) && tools(candidateOf(route)) === true // not a promise of an async function
      : tools.includes(route.operationId) || (isRead(route) && hasEnd(route));
  const offered = routes.filter(isOffered);
  for (const route of offered) requireTool(route);
  return offered;
}

/** Whether an agent can change nothing with it (RFC 9110 §9.2.1, RFC 10008). */
function isRead({ method }: DocumentedRoute): boolean {
  return method === 'GET' || method === 'QUERY';
}

function candidateOf({ operationId, method, path, metadata }: DocumentedRoute): ToolCandidate {
  return { operationId, method, path, tags: metadata.endpoint.tags ?? [] };
}

/** @throws {TypeError} if one of `tools` is no operation */
function requireOperations(tools: readonly string[], routes: readonly DocumentedRoute[]): void {
  const names = routes.map(({ operationId }) => operationId);
  const unknown = tools.find((name) => !names.includes(name));
  if (unknown === undefined) return;
  const meant = likelyMeant(unknown, names);
  const hint = meant === undefined ? '' : `; did you mean "${meant}"?`;
  const expected = `the id of an operation${hint}`;
  throw badOption('mcp()', { name: 'tools', value: unknown, expected });
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

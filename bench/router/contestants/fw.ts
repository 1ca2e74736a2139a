import { RouteTable, type TableMatch } from '../../../framework/core/src/router/route-table.ts';
import type { RouterUnderTest } from '../contestant.ts';
import type { Route } from '../routes.ts';

/**
 * The lookup of a request, whose path the application has already normalised. Default options: folds
 * case, decodes percent-encoding, ignores a trailing slash.
 */
export function create(routes: readonly Route[]): RouterUnderTest<TableMatch> {
  const table = new RouteTable({ caseSensitive: false, strict: false });
  for (const { path } of routes) {
    table.add({ method: 'GET', path, scopes: [], handlers: [() => undefined] });
  }
  return {
    find: (method, path) => table.find(method, path),
    routeOf: (match) => match.route,
    id: (match) => match.params.id,
    orderId: (match) => match.params.orderId,
    itemId: (match) => match.params.itemId,
    rest: (match) => match.params['*'],
  };
}

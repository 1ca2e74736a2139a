import { isRecord } from '@fw/core/extension';

import { type Json, readList, readRecord, resolve } from './json.ts';
import { compareOperations, type Endpoint } from './operation-changes.ts';
import type { Pair } from './schema-changes.ts';

/** The changes of one operation that can break a client. */
export interface BreakingChanges {
  /** `GET /users/{id}`; `servers` for the base URLs of the document. */
  readonly operation: string;
  /** What changed, one line each: `query parameter limit: maximum changed from 100 to 50`. */
  readonly changes: readonly string[];
}

/**
 * Returns the changes between two OpenAPI 3.1 documents, parsed from JSON, that can break a client: a
 * request that was valid is rejected, or a response differs from what the older document promises.
 * Names of components, parameters in paths and operation ids do not matter; a client ignores unknown
 * fields of a response.
 *
 * @throws {TypeError} if one of them is not an OpenAPI document
 */
export function findBreakingChanges(before: unknown, after: unknown): BreakingChanges[] {
  const documents = { before: readDocument(before), after: readDocument(after) };
  const operations = operationsOf(documents.after);
  const found = [...operationsOf(documents.before)].map(([key, before]) => {
    const after = operations.get(key);
    const changes = after
      ? compareOperations({ before, after }, documents)
      : ['the operation is removed'];
    return { operation: before.name, changes: [...new Set(changes)] };
  });
  return [{ operation: 'servers', changes: compareServers(documents) }, ...found].filter(
    ({ changes }) => changes.length > 0,
  );
}

function readDocument(value: unknown): Json {
  if (isRecord(value) && typeof value.openapi === 'string' && isRecord(value.paths)) return value;
  throw new TypeError('Cannot compare documents: expected two OpenAPI documents with "paths"');
}

function compareServers({ before, after }: Pair<Json>): string[] {
  const urls = serversOf(after);
  const removed = serversOf(before).filter((url) => !urls.includes(url));
  return removed.map((url) => `the base URL ${url} is removed`);
}

function serversOf({ servers }: Json): string[] {
  const urls = readList(servers).map((server) => String(readRecord(server).url));
  return urls.length > 0 ? urls : ['/'];
}

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'x-query'];

interface NamedEndpoint extends Endpoint {
  readonly name: string;
}

/** The operations by method and path, in which names of parameters do not matter. */
function operationsOf(document: Json): ReadonlyMap<string, NamedEndpoint> {
  const operations = new Map<string, NamedEndpoint>();
  for (const [path, item] of Object.entries(readRecord(document.paths))) {
    const { parameters, ...fields } = resolve(document, item);
    for (const method of METHODS.filter((each) => isRecord(fields[each]))) {
      const operation = readRecord(fields[method]);
      operations.set(`${method} ${path.replace(/\{[^}]*\}/g, '{}')}`, {
        name: `${method.replace(/^x-/, '').toUpperCase()} ${path}`,
        path,
        operation: {
          ...operation,
          parameters: [...readList(parameters), ...readList(operation.parameters)],
        },
      });
    }
  }
  return operations;
}

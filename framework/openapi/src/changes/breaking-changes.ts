import { isRecord } from '@fw/core/schema';

import { type Json, mapPair, type Pair, readList, readRecord, resolve } from './json.ts';
import { compareOperations, type Operation } from './operation-changes.ts';

/** The changes of one operation that can break a client. */
export interface BreakingChanges {
  /** `GET /users/{id}`; `servers` for the base URLs of the document. */
  readonly operation: string;
  /** What changed, one line each: `query parameter limit: maximum changed from 100 to 50`. */
  readonly changes: readonly string[];
}

/**
 * Returns the changes between two OpenAPI 3.1 or 3.2 documents, parsed from JSON, that can break a client: a
 * request that was valid is rejected, or a response differs from what the older document promises.
 * Names of components, parameters in paths and operation ids do not matter; a client ignores unknown
 * fields of a response.
 *
 * @throws {TypeError} if one of them is not an OpenAPI document
 */
export function findBreakingChanges(before: unknown, after: unknown): BreakingChanges[] {
  const documents = mapPair({ before, after }, readDocument);
  const operations = mapPair(documents, operationsOf);
  const found = [...operations.before].map(([key, before]) => {
    const after = operations.after.get(key);
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

function compareServers(documents: Pair<Json>): string[] {
  const { before, after } = mapPair(documents, serversOf);
  const removed = before.filter((url) => !after.includes(url));
  return removed.map((url) => `the base URL ${url} is removed`);
}

function serversOf({ servers }: Json): string[] {
  const urls = readList(servers).map((server) => String(readRecord(server).url));
  return urls.length > 0 ? urls : ['/'];
}

const METHODS = [
  ...['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'],
  'x-query', // in OpenAPI 3.1
];

interface NamedOperation extends Operation {
  readonly name: string;
}

/** The operations by method and path, in which names of parameters do not matter. */
function operationsOf(document: Json): ReadonlyMap<string, NamedOperation> {
  const operations = new Map<string, NamedOperation>();
  for (const [path, given] of Object.entries(readRecord(document.paths))) {
    const item = resolve(document, given);
    for (const field of METHODS.filter((each) => isRecord(item[each]))) {
      const fields = readRecord(item[field]);
      const method = field.replace('x-', '');
      const parameters = [...readList(item.parameters), ...readList(fields.parameters)]
        .map((each) => resolve(document, each))
        .map((parameter) => [keyOf(parameter, path), parameter] as const);
      operations.set(`${method} ${path.replace(/\{[^}]*\}/g, '{}')}`, {
        name: `${method.toUpperCase()} ${path}`,
        fields,
        parameters: new Map(parameters),
      });
    }
  }
  return operations;
}

function keyOf({ in: place, name }: Json, path: string): string {
  if (place === 'header') return `header ${String(name).toLowerCase()}`;
  if (place !== 'path') return `${place} ${name}`;
  const position = [...path.matchAll(/\{([^}]*)\}/g)].findIndex(([, each]) => each === name);
  return `path ${position}`;
}

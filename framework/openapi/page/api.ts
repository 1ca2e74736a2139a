import type { Reference } from '../src/components.ts';
import type { OpenApiDocument as Api } from '../src/document.ts';
import type { Operation as Described } from '../src/operation.ts';

export type { OpenApiDocument as Api } from '../src/document.ts';
export type { Parameter } from '../src/operation.ts';
export type { Response as ApiResponse } from '../src/responses.ts';

/** The keywords of a schema that the page reads. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly additionalProperties?: boolean | Schema;
  readonly oneOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly [keyword: string]: unknown;
}

/** An operation with its method and path. */
export interface Operation extends Described {
  readonly id: string;
  readonly method: string;
  readonly path: string;
  /** Its summary, or its path if it has none. */
  readonly title: string;
  readonly isTitled: boolean;
}

export interface Group {
  readonly name: string;
  readonly operations: readonly Operation[];
}

/** Reads a document. Events of streams appear as schemas of bodies, and JSON in their data as its schema. */
export function readDocument(text: string): Api {
  return JSON.parse(text, (_key, value) =>
    value?.itemSchema ? { ...value, schema: value.itemSchema } : (value?.contentSchema ?? value),
  );
}

/** Resolves a `$ref` of `part` in the document; without one, returns `part`. */
export function resolve<T extends object>(api: Api, part: T | Reference): T {
  const { $ref = '' } = part as Partial<Reference>;
  const [, kind = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)$/.exec($ref) ?? [];
  return (api.components[kind]?.[name] ?? part) as T;
}

const METHODS = [
  ...['get', 'query', 'x-query', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'],
];

/** The operations of a document by their first tag, or else by the resource in their path. */
export function groupOperations(api: Api): Group[] {
  const groups = new Map<string, Operation[]>();
  for (const [path, item] of Object.entries(api.paths)) {
    const order = (field: string) => METHODS.indexOf(field);
    for (const [field, described] of Object.entries(item).sort(([a], [b]) => order(a) - order(b))) {
      const method = field.replace('x-', '').toUpperCase();
      const id = `operation/${described.operationId}`;
      const name = described.tags?.[0] ?? subjectOf(path);
      // The generator writes method and path as the summary of an operation without one.
      const isTitled = !['', `${method} ${path}`].includes(described.summary);
      const operation = {
        ...described,
        id,
        method,
        path,
        isTitled,
        title: isTitled ? described.summary : path,
      };
      groups.set(name, [...(groups.get(name) ?? []), operation]);
    }
  }
  return [...groups].map(([name, operations]) => ({ name, operations }));
}

/** The resource of `/api/v1/users/{id}` is `users v1`. */
function subjectOf(path: string): string {
  const words = path.split('/').filter((word) => word !== '' && word !== 'api');
  const version = words.find((word) => /^v\d+$/.test(word));
  const subject = words.find((word) => word !== version && !word.startsWith('{')) ?? 'general';
  const name = subject.charAt(0).toUpperCase() + subject.slice(1);
  return version === undefined ? name : `${name} ${version}`;
}

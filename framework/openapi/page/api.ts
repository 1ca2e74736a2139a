/*
 * The parts of the document that the page reads. The page makes no assumptions about it, because it can
 * also show a document that this package did not generate.
 */

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly title?: string;
  readonly description?: string;
  readonly format?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
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

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema?: Schema;
  readonly 'x-wildcard'?: boolean;
}

export interface Media {
  readonly schema?: Schema;
  readonly example?: unknown;
}

export interface ApiResponse {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<
    Record<string, { readonly $ref?: string; readonly description?: string }>
  >;
  readonly content?: Readonly<Record<string, Media>>;
}

export interface Described {
  readonly operationId?: string;
  readonly summary?: string;
  readonly description?: string;
  readonly tags?: readonly string[];
  readonly deprecated?: boolean;
  readonly security?: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: {
    readonly required?: boolean;
    readonly content?: Readonly<Record<string, Media>>;
  };
  readonly responses?: Readonly<Record<string, ApiResponse>>;
}

export interface SecurityScheme {
  readonly type: string;
  readonly scheme?: string;
  readonly in?: string;
  readonly name?: string;
}

export interface Api {
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description?: string;
  };
  readonly servers?: readonly { readonly url: string; readonly description?: string }[];
  readonly paths?: Readonly<Record<string, Readonly<Record<string, Described>>>>;
  readonly components?: {
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
    readonly [kind: string]: Readonly<Record<string, unknown>> | undefined;
  };
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

/** Resolves a `$ref` of `part` in the document; without one, returns `part`. */
export function resolve<T extends { readonly $ref?: string }>(api: Api, part: T): T {
  const [, kind = '', name = ''] = /^#\/components\/([^/]+)\/([^/]+)$/.exec(part.$ref ?? '') ?? [];
  const found = api.components?.[kind]?.[name];
  return (found as T | undefined) ?? part;
}

const METHODS = ['get', 'x-query', 'post', 'put', 'patch', 'delete', 'head', 'options', 'trace'];

/** The operations of a document by their first tag, or else by the resource in their path. */
export function groupOperations(api: Api): Group[] {
  const groups = new Map<string, Operation[]>();
  for (const [path, item] of Object.entries(api.paths ?? {})) {
    const fields = Object.keys(item).filter(
      (name) => METHODS.includes(name) || /^x-[a-z]+$/.test(name),
    );
    for (const field of fields.sort((a, b) => METHODS.indexOf(a) - METHODS.indexOf(b))) {
      const described = item[field];
      if (!described?.responses) continue;
      const method = field.replace('x-', '').toUpperCase();
      const id = `operation/${described.operationId ?? `${method}${path}`}`;
      const name = described.tags?.[0] ?? subjectOf(path);
      // The generator writes method and path as the summary of an operation without one.
      const { summary = '' } = described;
      const isTitled = summary !== '' && summary !== `${method} ${path}`;
      const operation = {
        ...described,
        id,
        method,
        path,
        isTitled,
        title: isTitled ? summary : path,
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

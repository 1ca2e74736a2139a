/**
 * The name that stands for a final `*` in a document, which has no wildcards: `path`, or `path2` and
 * so on beside parameters of this name.
 */
function wildcardName(segments: readonly string[]): string {
  let name = 'path';
  for (let number = 2; segments.includes(`:${name}`); number++) name = `path${number}`;
  return name;
}

/** One piece of a pattern: fixed text, or a parameter under the name that the handler reads. */
interface Segment {
  readonly text: string;
  /** The name in the document; `undefined` for fixed text. */
  readonly name: string | undefined;
}

function readSegments(path: string): Segment[] {
  const segments = path.split('/');
  return segments.map((text) => {
    if (text.startsWith(':')) return { text, name: text.slice(1) };
    return { text, name: text === '*' ? wildcardName(segments) : undefined };
  });
}

/** A parameter in a path: the name that the handler reads, and the one in the document. */
export interface PathParam {
  readonly key: string;
  readonly name: string;
  readonly isWildcard: boolean;
}

/** The parameters of a pattern, in order. */
export function readPathParams(path: string): PathParam[] {
  return readSegments(path).flatMap(({ text, name }) =>
    name === undefined ? [] : [{ key: text.replace(/^:/, ''), name, isWildcard: text === '*' }],
  );
}

/** A route's pattern as a document writes it: `/users/:id/files/*` is `/users/{id}/files/{path}`. */
export function toOpenApiPath(path: string): string {
  return readSegments(path)
    .map(({ text, name }) => (name === undefined ? escapeBraces(text) : `{${name}}`))
    .join('/');
}

/** The names of a pattern's parameters in a document, in order: `/users/:id/*` has `id` and `path`. */
export function extractPathParams(path: string): string[] {
  return readPathParams(path).map(({ name }) => name);
}

/** Braces of a route's own text, which would read as a parameter. */
function escapeBraces(text: string): string {
  return text.replaceAll('{', '%7B').replaceAll('}', '%7D');
}

/**
 * The parameter name of a final `*`: OpenAPI has no wildcards. `path`, or `path2` and so on if a parameter
 * has this name.
 */
function wildcardName(segments: readonly string[]): string {
  let name = 'path';
  for (let number = 2; segments.includes(`:${name}`); number++) name = `path${number}`;
  return name;
}

/** A parameter in a path: the name that the handler reads, and the one in the document. */
export interface PathParam {
  readonly key: string;
  readonly name: string;
  readonly isWildcard: boolean;
}

/** The fixed texts and the parameters of a pattern. */
function readSegments(path: string): (string | PathParam)[] {
  const segments = path.split('/');
  return segments.map((text) => {
    if (text === '*') return { key: text, name: wildcardName(segments), isWildcard: true };
    if (!text.startsWith(':')) return text;
    return { key: text.slice(1), name: text.slice(1), isWildcard: false };
  });
}

/** The parameters of a pattern, in order. */
export function readPathParams(path: string): PathParam[] {
  return readSegments(path).filter((segment) => typeof segment !== 'string');
}

/** Converts a pattern to OpenAPI syntax: `/users/:id/files/*` becomes `/users/{id}/files/{path}`. */
export function toOpenApiPath(path: string): string {
  return readSegments(path)
    .map((segment) => (typeof segment === 'string' ? escapeBraces(segment) : `{${segment.name}}`))
    .join('/');
}

/** The parameter names of a pattern in the document, in order: `/users/:id/*` has `id` and `path`. */
export function extractPathParams(path: string): string[] {
  return readPathParams(path).map(({ name }) => name);
}

/** Braces in the text of a route, which would be read as a parameter. */
function escapeBraces(text: string): string {
  return text.replaceAll('{', '%7B').replaceAll('}', '%7D');
}

import type { Target } from './targets.ts';

/** A request that ends in the middle: the client closes its side after these bytes. */
export interface CutRequest {
  readonly cut: string;
}

/**
 * A row of the table: what the bytes are, where they were published, the bytes, and the outcomes
 * directly and at the edge (default: the same). An outcome lists the statuses in their order and
 * whether the connection stays usable, as in `400 close`. ` | ` separates outcomes that are permitted,
 * because they depend on the version of the server or on timing.
 *
 * - `ok`, `created`: the status of a valid GET or POST
 * - `400*`: after reading the body; a service without POST may respond with 405 before
 * - `400+`: after authentication; reports responds with 401 before
 * - `HTTP/0.9`: a body without a head, as version 0.9 requires
 */
export type Row = readonly [
  title: string,
  source: string,
  bytes: string | CutRequest,
  direct: string,
  edge?: string,
];

/** The parts that rows are made of, with the paths of one target. */
export interface Requests {
  readonly path: string;
  readonly collection: string;
  /** A GET with these header lines. */
  get(...headers: readonly string[]): string;
  /** A JSON POST with these header lines, and a body. */
  post(headers: readonly string[] | string, body?: string): string;
  /** A valid request that must not be handled if it is inside of another one. */
  readonly smuggled: string;
}

/** Rows of one topic. */
export type Topic = (requests: Requests) => readonly Row[];

/** The body of a valid POST. */
export const USER = '{"name":"Ada","email":"ada@example.com"}';

/** The id of every request that must not be handled. */
export const SMUGGLED_ID = 'smuggled';

/** Joins the lines of a head. */
export function lines(...all: readonly string[]): string {
  return `${all.join('\r\n')}\r\n\r\n`;
}

/** `text` as one chunk and the last chunk. */
export function chunk(text: string): string {
  return `${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`;
}

/** The parts of rows for one target. */
export function requestsOf({ path, collection }: Pick<Target, 'path' | 'collection'>): Requests {
  const get = (...headers: readonly string[]) =>
    lines(`GET ${path} HTTP/1.1`, 'Host: a', ...headers);
  return {
    path,
    collection,
    get,
    post: (headers, body = '') =>
      lines(
        `POST ${collection} HTTP/1.1`,
        'Host: a',
        'Content-Type: application/json',
        ...[headers].flat(),
      ) + body,
    smuggled: get(`X-Request-Id: ${SMUGGLED_ID}`),
  };
}

import http, { type RefinedResponse } from 'k6/http';

import type { Kind } from './objectives.ts';

/** The parts of a request that its kind does not define. */
export interface RequestOptions {
  /** Replaces `:id` in the path. */
  readonly id?: string | number;
  readonly query?: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Record<string, string>;
  /** Expected statuses; a response with another status is a failed request. Default 200. */
  readonly expect?: readonly number[];
}

export type Response = RefinedResponse<'text'>;

const BASE = (__ENV.BASE || 'http://localhost:8080').replace(/\/+$/, '');

/** The status of every request to a version that `WITHOUT_VERSION` removed. */
const GONE = 410;

/**
 * Sends a request, tagged by `kind` so that the objective of its kind applies.
 * Returns a response with an expected status; logs any other, except that of a removed version.
 */
export function send(
  kind: Kind,
  { id = '', query = '', body, headers = {}, expect = [200] }: RequestOptions = {},
): Response | undefined {
  const [method = '', pattern = ''] = kind.split(' ');
  const url = `${BASE}${pattern.replace(':id', encodeURIComponent(id))}${query && `?${query}`}`;
  const response = http.request(method, url, body === undefined ? null : JSON.stringify(body), {
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    redirects: 0,
    responseCallback: http.expectedStatuses(...expect, GONE),
    responseType: 'text',
    tags: { name: kind },
    timeout: '15s',
  });
  if (expect.includes(response.status)) return response;
  // Status 0 means that there was no response: k6 logs the reason itself.
  if (response.status !== 0 && response.status !== GONE) {
    console.error(`${kind}: status ${response.status}: ${String(response.body).slice(0, 500)}`);
  }
  return undefined;
}

/** A unique name. */
export function newName(): string {
  return crypto.randomUUID();
}

import http, { type RefinedResponse } from 'k6/http';

import type { Kind } from './slo.ts';

/** What a request says beyond its kind. */
export interface RequestOptions {
  /** What stands for `:id` in the path. */
  readonly id?: string | number;
  readonly query?: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Record<string, string>;
  /** The statuses that are right; any other is a failed request. Default 200. */
  readonly expect?: readonly number[];
}

export type Answer = RefinedResponse<'text'>;

const BASE = (__ENV.BASE || 'http://localhost:8080').replace(/\/+$/, '');

/**
 * Sends a request of `kind`, which it is counted and held to its objective by.
 * Gives its answer if it has a status that is right; any other is logged.
 */
export function send(
  kind: Kind,
  { id = '', query = '', body, headers = {}, expect = [200] }: RequestOptions = {},
): Answer | undefined {
  const [method = '', pattern = ''] = kind.split(' ');
  const url = `${BASE}${pattern.replace(':id', encodeURIComponent(id))}${query && `?${query}`}`;
  const answer = http.request(method, url, body === undefined ? null : JSON.stringify(body), {
    headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
    redirects: 0,
    responseCallback: http.expectedStatuses(...expect),
    responseType: 'text',
    tags: { name: kind },
    timeout: '15s',
  });
  if (expect.includes(answer.status)) return answer;
  // Without a status there was no answer, and k6 says itself why.
  if (answer.status !== 0) {
    console.error(`${kind} answered ${answer.status}: ${String(answer.body).slice(0, 500)}`);
  }
  return undefined;
}

/** A new name for something that nobody else may have. */
export function newName(): string {
  return crypto.randomUUID();
}

import { hmac } from 'k6/crypto';
import { b64encode } from 'k6/encoding';
import http, { type RefinedResponse } from 'k6/http';
import { Counter } from 'k6/metrics';

import { SERVICES } from '../../../services/services.ts';
import type { Kind } from './objectives.ts';

/** The parts of a request that its kind does not define. */
export interface RequestOptions {
  /** Replaces `:id` in the path. */
  readonly id?: string | number;
  readonly query?: string;
  /** Sent as JSON. */
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  /** Expected statuses; a response with another status is a failed request. Default 200. */
  readonly expect?: readonly number[];
}

export type Response = RefinedResponse<'text'>;

const BASE = (__ENV.BASE || 'http://localhost:8080').replace(/\/+$/, '');

/** Counts the responses with the header `COUNT_HEADER`, such as `X-Served-By`. */
const withHeader = new Counter('responses_with_header');

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
    headers: {
      ...optionalAuthorization(pattern),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    redirects: 0,
    responseCallback: http.expectedStatuses(...expect, GONE),
    responseType: 'text',
    tags: { name: kind },
    timeout: '15s',
  });
  if (__ENV.COUNT_HEADER && response.headers[__ENV.COUNT_HEADER]) withHeader.add(1);
  if (expect.includes(response.status)) return response;
  // Status 0 means that there was no response: k6 logs the reason itself.
  if (response.status !== 0 && response.status !== GONE) {
    console.error(`${kind}: status ${response.status}: ${String(response.body).slice(0, 500)}`);
  }
  return undefined;
}

/** The header of the requests of this virtual user to other services: signing one for each takes time. */
let shared: { authorization: string } | undefined;

/**
 * The Authorization header for a service that may run with `AUTH=required`; otherwise it ignores the header. A service
 * that always needs a token gets that of its journey.
 */
function optionalAuthorization(pattern: string): { authorization?: string } {
  const service = SERVICES.find(({ name }) => name === pattern.split('/')[3]);
  if (service?.authenticated) return {};
  if (!__ENV.TOKEN && !__ENV.JWT_SECRET) return {};
  shared ??= authorization('load', 'pro');
  return shared;
}

/** A unique name. */
export function newName(): string {
  return crypto.randomUUID();
}

/** Requests as a new user. With `TOKEN`, all requests share one user, who reaches the rate limit. */
export function asNewUser(): Required<Pick<RequestOptions, 'headers' | 'expect'>> {
  return {
    headers: authorization(`load-${newName()}`, 'pro'),
    expect: __ENV.TOKEN ? [200, 429] : [200],
  };
}

/**
 * The Authorization header of `user`: `TOKEN` if set, else a JSON Web Token valid for a day, signed with
 * `JWT_SECRET` (HS256; RFC 7519, RFC 7515).
 */
export function authorization(user: string, tier: 'free' | 'pro'): { authorization: string } {
  return { authorization: `Bearer ${__ENV.TOKEN || issueToken(user, tier)}` };
}

function issueToken(user: string, tier: string): string {
  const secret = __ENV.JWT_SECRET;
  if (!secret) throw new Error('Cannot create a token: set TOKEN or JWT_SECRET');
  const iat = Math.floor(Date.now() / 1000);
  const claims = {
    iss: __ENV.JWT_ISSUER || 'fw',
    aud: __ENV.JWT_AUDIENCE || SERVICES.map(({ name }) => name),
    sub: user,
    tier,
    iat,
    exp: iat + 86_400,
  };
  const encode = (part: object) => b64encode(JSON.stringify(part), 'rawurl');
  const signed = `${encode({ alg: 'HS256', typ: 'JWT' })}.${encode(claims)}`;
  return `${signed}.${hmac('sha256', secret, signed, 'base64rawurl')}`;
}

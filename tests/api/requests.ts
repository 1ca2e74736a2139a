import assert from 'node:assert/strict';
import http from 'node:http';
import https from 'node:https';

import { type Client, createClient } from '@fw/client';
import type { Send } from '@fw/service/testing';

import { SERVICES } from '../../services/services.ts';

/** Sends any request to one system, also an invalid one. */
export interface Api {
  readonly origin: string;
  /** The credentials that a request to `url` needs, besides those of the services that always need a token. */
  credentials(url: string): Readonly<Record<string, string>>;
  get(url: string, headers?: Readonly<Record<string, string>>): Promise<Response>;
  readonly send: Send;
  /** Sends the body only after the server responded with 100 Continue. */
  postAfterContinue(url: string, body: string): Promise<ContinuedResponse>;
}

export interface ContinuedResponse {
  /** Whether the server responded with 100 Continue. */
  readonly continued: boolean;
  readonly status: number | undefined;
  readonly text: string;
}

/** A client typed by an OpenAPI document. It repeats no request: a test sees every failure. */
export function clientOf<Paths>({ origin, credentials }: Api, path: string): Client<Paths> {
  const headers = credentials(path);
  return createClient<Paths>({ baseUrl: origin, headers, attempts: 1, deadlineMs: 30_000 });
}

/** Sends requests to the system at `origin`; `token` is for the services that need one with `AUTH=required`. */
export function createApi(origin: string, token?: string): Api {
  const credentials = (url: string): Readonly<Record<string, string>> => {
    const service = SERVICES.find(({ name }) => name === url.split(/[/?]/)[3]);
    const needsToken = token !== undefined && service?.authenticated === false;
    return needsToken ? { authorization: `Bearer ${token}` } : {};
  };
  return {
    origin,
    credentials,
    get: (url, headers = {}) =>
      fetch(origin + url, { headers: { ...credentials(url), ...headers }, redirect: 'manual' }),
    send(method, url, body, given = {}) {
      const headers = { ...credentials(url), ...given };
      if (body === undefined) return fetch(origin + url, { method, headers });
      return fetch(origin + url, {
        method,
        headers: { 'content-type': 'application/json', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      });
    },
    postAfterContinue: (url, body) => postAfterContinue(origin + url, body, credentials(url)),
  };
}

/** The path of the next page in the `Link` header (RFC 8288). */
export function nextPage(response: Pick<Response, 'headers'>): string {
  const [, path = ''] = /<([^>]+)>; rel="next"/.exec(response.headers.get('link') ?? '') ?? [];
  assert.match(path, /^\/api\/v2\//, 'Link names the next page');
  return path;
}

function postAfterContinue(
  url: string,
  body: string,
  headers: Readonly<Record<string, string>>,
): Promise<ContinuedResponse> {
  return new Promise((resolve, reject) => {
    let continued = false;
    const { request: send } = url.startsWith('https:') ? https : http;
    const request = send(url, {
      method: 'POST',
      agent: false,
      headers: {
        ...headers,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
        expect: '100-continue',
      },
    });
    request.once('error', reject);
    request.once('continue', () => {
      continued = true;
      request.end(body);
    });
    request.once('response', async (response) => {
      const text = Buffer.concat(await response.toArray()).toString();
      resolve({ continued, status: response.statusCode, text });
    });
    request.flushHeaders();
  });
}

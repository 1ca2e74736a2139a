import assert from 'node:assert/strict';

import { request } from '@fw/core/testing';
import type { Application } from 'fw';

/** Sends `body`, as JSON unless it is a string; no body if it is undefined. */
export type Send = (
  method: string,
  path: string,
  body?: unknown,
  headers?: Readonly<Record<string, string>>,
) => Promise<Response>;

/** Sends requests to an application in process. */
export function sendTo(app: Application): Send {
  return (method, path, body, headers = {}) => {
    if (typeof body !== 'string') return request(app, path, { method, headers, json: body });
    const type = { 'Content-Type': 'application/json' };
    return request(app, path, { method, headers: { ...type, ...headers }, body });
  };
}

/** A parsed JSON body; the test asserts its structure. */
export type Json = ReturnType<typeof JSON.parse>;

/** Asserts the status and the JSON type of a response, and returns its body. */
export async function readJson(response: Response, status = 200): Promise<Json> {
  const text = await response.text();
  assert.equal(response.status, status, `${response.url} returned ${response.status}: ${text}`);
  assert.match(response.headers.get('content-type') ?? '', /^application\/json\b/);
  return JSON.parse(text);
}

/** Asserts that a response is a problem (RFC 9457) with this status and code, and returns it. */
export async function readProblem(response: Response, status: number, code: string) {
  const text = await response.text();
  assert.equal(response.status, status, `${response.url} returned ${response.status}: ${text}`);
  assert.match(response.headers.get('content-type') ?? '', /^application\/problem\+json\b/);
  const problem = JSON.parse(text);
  assert.equal(problem.status, status);
  assert.equal(problem.code, code);
  assert.equal(typeof problem.title, 'string');
  assert.equal(typeof problem.detail, 'string');
  assert.equal(problem.requestId, response.headers.get('x-request-id'));
  return problem as Json;
}

/** Asserts that a response has this status and no body. */
export async function readNothing(response: Response, status: number): Promise<void> {
  assert.equal(response.status, status);
  assert.equal(await response.text(), '');
}

/**
 * Returns `store` with a field `passwordHash` in every object that its methods resolve with, also in
 * nested ones, for the test that no undeclared field leaves the process.
 */
export function plantField<Store extends object>(store: Store): Store {
  return new Proxy(store, {
    get(target, name) {
      const member: unknown = Reflect.get(target, name);
      if (typeof member !== 'function') return member;
      return async (...args: readonly unknown[]) =>
        plant(await Reflect.apply(member, target, args));
    },
  });
}

function plant(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plant);
  if (typeof value !== 'object' || value === null || value instanceof Date) return value;
  const planted = Object.entries(value).map(([key, part]) => [key, plant(part)]);
  return { ...Object.fromEntries(planted), passwordHash: 'planted' };
}

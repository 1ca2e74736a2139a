import { isDeepStrictEqual } from 'node:util';

import { type Answer, type Ask, type Endpoint, numbered, type ServiceRequest } from './endpoint.ts';

/** What differs from one answer to the next whoever gives it. */
const OF_ITS_OWN = new Set(['id', 'createdAt', 'updatedAt', 'requestId', 'generatedAt']);

/** What a client acts on, beside status and body. */
const HEADERS = ['content-type', 'etag', 'cache-control', 'link', 'accept-patch'];

/** Of what the request made. */
const UUID = /[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}/g;

/** The time of day, in what was made just now. */
const CLOCK = /\d\d:\d\d(?::\d\d\.\d+)?/g;

/** Enough to see each kind of request of an endpoint. */
const REQUESTS = 20;

/** The answers of one contestant to an endpoint's requests, as far as others must give the same. */
export interface Sight {
  readonly request: ServiceRequest;
  readonly answer: unknown;
}

/**
 * Asks a contestant for what an endpoint is measured by, with the numbers from `first` on.
 *
 * @throws {Error} if it answers with another status, or does not refuse what it has to
 */
export async function look(ask: Ask, endpoint: Endpoint, first: number): Promise<readonly Sight[]> {
  const sights: Sight[] = [];
  for (const [at, template] of (await endpoint.requests(ask)).slice(0, REQUESTS).entries()) {
    const request = numbered(template, first + at);
    const answer = await ask(request);
    expectStatus(request, answer, endpoint.status);
    sights.push({ request: template, answer: comparable(answer) });
    if (endpoint.thenDeletes === undefined) continue;
    const path = `${endpoint.thenDeletes}${/"id":"([^"]+)"/.exec(answer.body)?.[1]}`;
    const deleted = await ask({ method: 'DELETE', path });
    if (deleted.status >= 400) throw differs({ method: 'DELETE', path }, `${deleted.status}`);
    sights.push({ request: template, answer: comparable(deleted) });
  }
  for (const [request, status] of endpoint.refuses ?? []) {
    const answer = await ask(request);
    expectStatus(request, answer, status);
    sights.push({ request, answer: answer.headers.get('content-type')?.split(';')[0] });
  }
  return sights;
}

/**
 * Holds one contestant's answers against another's.
 *
 * @throws {Error} naming the request that is answered differently
 */
export function expectSame(sights: readonly Sight[], expected: readonly Sight[]): void {
  for (const [at, { request, answer }] of sights.entries()) {
    const other = expected[at]?.answer;
    if (isDeepStrictEqual(answer, other)) continue;
    throw differs(request, differenceOf(JSON.stringify(answer), JSON.stringify(other) ?? ''));
  }
}

/** Where two texts part, and a little of both from there on. */
function differenceOf(text: string, expected: string): string {
  const at = [...text].findIndex((character, index) => character !== expected[index]);
  const from = Math.max(0, (at < 0 ? text.length : at) - 40);
  return `…${text.slice(from, from + 120)} instead of …${expected.slice(from, from + 120)}`;
}

function comparable({ status, headers, body }: Answer): unknown {
  const type = headers.get('content-type') ?? '';
  const own = Object.fromEntries(
    HEADERS.map((name) => [name, headers.get(name)?.replace(UUID, 'a UUID')]),
  );
  const isJson = /^application\/(?:[\w.-]+\+)?json/.test(type);
  // A charset says nothing about JSON (RFC 8259 §11), and a 304 need not repeat the type.
  const mediaType = isJson ? 'json' : type.replaceAll(' ', '').toLowerCase();
  return {
    status,
    ...own,
    'content-type': mediaType,
    body: isJson ? masked(body) : body.replace(CLOCK, 'now'),
  };
}

function masked(text: string): unknown {
  return JSON.parse(text, (key, value) => (OF_ITS_OWN.has(key) ? 'its own' : value)) as unknown;
}

function expectStatus(request: ServiceRequest, answer: Answer, status: number): void {
  if (answer.status === status) return;
  throw differs(request, `status ${answer.status} instead of ${status}: ${answer.body}`);
}

function differs({ method, path }: Pick<ServiceRequest, 'method' | 'path'>, how: string): Error {
  return new Error(`answers ${method} ${path} with ${how}`);
}

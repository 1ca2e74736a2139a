import { json } from '@fw/body-parser';
import { createApp, createRouter, type Logger, type Router } from '@fw/core';
import type { StandardSchema } from '@fw/core/schema';
import { quiet, type RequestOptions, request } from '@fw/core/testing';
import { validate } from '../validate.ts';

/** A schema by hand: what a library would give. */
export function schemaOf<Output>(
  check: StandardSchema<unknown, Output>['~standard']['validate'],
): StandardSchema<unknown, Output> {
  return { '~standard': { version: 1, vendor: 'by hand', validate: check } };
}

export const age = schemaOf((value) =>
  typeof value === 'object' && value !== null && 'age' in value && typeof value.age === 'number'
    ? { value: { age: value.age } }
    : { issues: [{ message: 'must be a number', path: ['age'] }] },
);

export function send(
  router: Router,
  path: string,
  { logger = quiet, ...options }: RequestOptions & { logger?: Logger } = {},
): Promise<Response> {
  const app = createApp({ logger }).use(json()).use(router.routes());
  return request(app, path, options);
}

export function post(router: Router, body: unknown, logger?: Logger): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  const options = { method: 'POST', headers, body: JSON.stringify(body) };
  return send(router, '/', logger ? { ...options, logger } : options);
}

interface Problem {
  readonly errors: readonly {
    readonly in: string;
    readonly pointer: string;
    readonly detail: string;
  }[];
}

export async function readProblem(response: Response): Promise<Problem> {
  return (await response.json()) as Problem;
}

/** The issues in the response to a POST of `body` to a route with `validate(schema)`. */
export async function issuesOf(schema: StandardSchema, body: unknown): Promise<Problem['errors']> {
  const router = createRouter().post('/', validate(schema), (ctx) => ctx.json(ctx.body));
  const response = await post(router, body);
  return (await readProblem(response)).errors;
}

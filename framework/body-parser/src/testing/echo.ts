import { createApp } from '@fw/core';
import { recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import { expect } from 'vitest';
import { type JsonOptions, json } from '../json.ts';

/** An application that echoes the body and counts the requests that reach its handler. */
export function createEcho(options: JsonOptions = {}) {
  const { logger, errors } = recordLog();
  let runs = 0;
  const app = createApp({ logger })
    .use(errorHandler())
    .use(json(options))
    .use((ctx) => {
      runs++;
      ctx.json({ body: ctx.body === undefined ? 'undefined' : ctx.body });
    });
  return { app, errors, runs: () => runs };
}

export const { app } = createEcho();
export const JSON_TYPE = { 'Content-Type': 'application/json' };

export function post(
  body: string | Uint8Array,
  headers: Record<string, string> = JSON_TYPE,
  to = app,
) {
  return request(to, '/', { method: 'POST', headers, body });
}

export async function problemOf(response: Response): Promise<unknown> {
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  return response.json();
}

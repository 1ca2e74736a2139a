import { json } from '@fw/body-parser';
import { quiet, request } from '@fw/core/testing';
import { mcp } from '@fw/openapi/mcp';
import { validate } from '@fw/validation';
import { createApp, createRouter, endpoint, errorHandler, notFoundHandler } from 'fw';
import { z } from 'zod';

import type { Variants } from './server.ts';

const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'getUser', arguments: { id: '42' } },
};
const User = z.object({ id: z.string(), name: z.string(), email: z.string() });

/** An operation as an HTTP request and as a tool, and a POST with the bodies of such a call. */
export async function createVariants(): Promise<Variants<'http' | 'post' | 'mcp'>> {
  const router = createRouter().get(
    '/users/:id',
    endpoint({ operationId: 'getUser', responses: { 200: User } }),
    validate({ params: z.object({ id: z.string().max(40) }) }),
    (ctx) => ({ id: ctx.params.id, name: 'Ada Lovelace', email: 'ada@example.com' }),
  );
  const app = createApp({ logger: quiet });
  app.use(errorHandler(), mcp({ router }), json());
  app.route('/', router);
  app.post('/same-size', (ctx) => ctx.json(response));
  app.use(notFoundHandler());
  const response = await (await request(app, '/mcp', { method: 'POST', json: CALL })).json();
  const call = { method: 'POST', body: JSON.stringify(CALL) };
  return {
    app,
    requests: {
      http: { path: '/users/42' },
      post: { ...call, path: '/same-size' },
      mcp: { ...call, path: '/mcp' },
    },
  };
}

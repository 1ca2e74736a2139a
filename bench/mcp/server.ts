/*
 * Serves an operation, the same operation as a tool, and a POST with the bodies of such a call. For each
 * message from its parent it sends the CPU time that it has used.
 */
import { json } from '@fw/body-parser';
import { request } from '@fw/core/testing';
import { mcp } from '@fw/openapi/mcp';
import { validate } from '@fw/validation';
import { createApp, createRouter, endpoint, errorHandler, listen, notFoundHandler } from 'fw';
import { z } from 'zod';

import { serveParent } from '../measured.ts';

export interface McpReady {
  readonly port: number;
}

/** The call of the tool that the parent sends. */
export const CALL = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: { name: 'getUser', arguments: { id: '42' } },
};

const User = z.object({ id: z.string(), name: z.string(), email: z.string() });
const router = createRouter().get(
  '/users/:id',
  endpoint({ operationId: 'getUser', responses: { 200: User } }),
  validate({ params: z.object({ id: z.string().max(40) }) }),
  (ctx) => ({ id: ctx.params.id, name: 'Ada Lovelace', email: 'ada@example.com' }),
);

if (process.send) {
  const app = createApp({ logger: { info() {}, warn() {}, error() {} } });
  app.use(errorHandler(), mcp({ router }), json());
  app.route('/', router);
  app.post('/same-size', (ctx) => ctx.json(response));
  app.use(notFoundHandler());
  const response = await (await request(app, '/mcp', { method: 'POST', json: CALL })).json();
  const { port } = await listen(app, 0);
  const ready: McpReady = { port };
  serveParent(ready, () => {
    const { user, system } = process.cpuUsage();
    return user + system;
  });
}

import { typesOf } from '../../tools/openapi/types-of.ts';

/** The files of a program that calls ten of `count` operations with one client. */
export type Program = Readonly<Record<string, string>>;

/** Writes the program of each client for an API with `count` read operations. */
export const PROGRAMS: Readonly<Record<string, (count: number) => Promise<Program>>> = {
  '@fw/client': async (count) => ({
    'paths.d.ts': await typesOf(documentOf(count)),
    'client.ts': `import { createClient } from '@fw/client';
import type { paths } from './paths.d.ts';
const client = createClient<paths>({ baseUrl: 'http://localhost' });
${calls(count, (n) => `(await client.get('/notes${n}/{id}', { path: { id: '7' } })).data.text`)}`,
  }),
  'openapi-fetch': async (count) => ({
    'paths.d.ts': await typesOf(documentOf(count)),
    'client.ts': `import createClient from 'openapi-fetch';
import type { paths } from './paths.d.ts';
const client = createClient<paths>({ baseUrl: 'http://localhost' });
${calls(count, (n) => `(await client.GET('/notes${n}/{id}', { params: { path: { id: '7' } } })).data?.text`)}`,
  }),
  hono: async (count) => ({
    'server.ts': `import { Hono } from 'hono';
export const app = new Hono()
${lines(count, (n) => `  .get('/notes${n}/:id', (c) => c.json({ id: c.req.param('id'), text: '' }))`)};`,
    'client.ts': `import { hc } from 'hono/client';
import type { app } from './server.ts';
const client = hc<typeof app>('http://localhost');
${calls(count, (n) => `(await (await client.notes${n}[':id'].$get({ param: { id: '7' } })).json()).text`)}`,
  }),
  Eden: async (count) => ({
    'server.ts': `import { Elysia } from 'elysia';
export const app = new Elysia()
${lines(count, (n) => `  .get('/notes${n}/:id', ({ params: { id } }) => ({ id, text: '' }))`)};`,
    'client.ts': `import { treaty } from '@elysiajs/eden';
import type { app } from './server.ts';
const client = treaty<typeof app>('http://localhost');
${calls(count, (n) => `(await client.notes${n}({ id: '7' }).get()).data?.text`)}`,
  }),
  tRPC: async (count) => ({
    'server.ts': `import { initTRPC } from '@trpc/server';
const t = initTRPC.create();
const input = (value: unknown) => value as { id: string };
export const router = t.router({
${lines(count, (n) => `  notes${n}: t.procedure.input(input).query(({ input: { id } }) => ({ id, text: '' })),`)}
});`,
    'client.ts': `import { createTRPCClient, httpLink } from '@trpc/client';
import type { router } from './server.ts';
const client = createTRPCClient<typeof router>({ links: [httpLink({ url: 'http://localhost' })] });
${calls(count, (n) => `(await client.notes${n}.query({ id: '7' })).text`)}`,
  }),
  oRPC: async (count) => ({
    'server.ts': `import { os, type } from '@orpc/server';
const input = type<{ id: string }>();
export const router = {
${lines(count, (n) => `  notes${n}: os.input(input).handler(({ input: { id } }) => ({ id, text: '' })),`)}
};`,
    'client.ts': `import { createORPCClient } from '@orpc/client';
import { RPCLink } from '@orpc/client/fetch';
import type { RouterClient } from '@orpc/server';
import type { router } from './server.ts';
const link = new RPCLink({ url: 'http://localhost' });
const client: RouterClient<typeof router> = createORPCClient(link);
${calls(count, (n) => `(await client.notes${n}({ id: '7' })).text`)}`,
  }),
  'ts-rest': async (count) => ({
    'contract.ts': `import { initContract } from '@ts-rest/core';
const c = initContract();
const responses = { 200: c.type<{ id: string; text: string }>() };
export const contract = c.router({
${lines(count, (n) => `  notes${n}: { method: 'GET', path: '/notes${n}/:id', responses },`)}
});`,
    'client.ts': `import { initClient } from '@ts-rest/core';
import { contract } from './contract.ts';
const client = initClient(contract, { baseUrl: 'http://localhost', baseHeaders: {} });
${calls(count, (n) => `(await client.notes${n}({ params: { id: '7' } })).status`)}`,
  }),
};

function lines(count: number, lineOf: (n: number) => string): string {
  return Array.from({ length: count }, (_, n) => lineOf(n)).join('\n');
}

function calls(count: number, callOf: (n: number) => string): string {
  return lines(Math.min(10, count), (n) => `console.log(${callOf(n)});`);
}

/** An OpenAPI document with `count` operations. */
function documentOf(count: number): object {
  const schema = {
    type: 'object',
    properties: { id: { type: 'string' }, text: { type: 'string' } },
    required: ['id', 'text'],
  };
  const operation = (n: number) => ({
    operationId: `readNote${n}`,
    parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string' } }],
    responses: { 200: { description: 'OK', content: { 'application/json': { schema } } } },
  });
  const paths = Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`/notes${n}/{id}`, { get: operation(n) }]),
  );
  return { openapi: '3.1.1', info: { title: 'Notes', version: '1.0.0' }, paths };
}

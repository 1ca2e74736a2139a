import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';

import { type Application, createApp, type Middleware } from '@fw/core';
import { quiet, request } from '@fw/core/testing';
import compression from 'compression';
import cors from 'cors';
import express from 'express';
import { rateLimit } from 'express-rate-limit';
import session from 'express-session';
import morgan from 'morgan';
import multer from 'multer';
import { expect, test } from 'vitest';
import { type ConnectMiddleware, connect } from './connect.ts';

/** An application with the middleware before the handler. */
function build(middleware: ConnectMiddleware, handler: Middleware): Application {
  return createApp({ logger: quiet }).use(connect(middleware)).all('/', handler);
}

const sendText: Middleware = (ctx) => ctx.send('text');

test('cors allows an origin, and responds to a preflight request', async () => {
  const app = build(cors({ origin: 'https://a.example' }), sendText);
  const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PUT' };

  const preflight = await request(app, '/', { method: 'OPTIONS', headers });
  const response = await request(app, '/');

  expect(preflight.status).toBe(204);
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT');
  expect(response.headers.get('access-control-allow-origin')).toBe('https://a.example');
  expect(response.headers.get('vary')).toBe('Origin');
});

const LARGE = 'compressible '.repeat(1_000);

test.each<readonly [string, Middleware]>([
  ['a whole response', (ctx) => ctx.send(LARGE)],
  ['a stream', (ctx) => ctx.set('Content-Type', 'text/plain').send(new Blob([LARGE]).stream())],
  ['an empty response', (ctx) => ctx.send('')],
  ['a small response', (ctx) => ctx.send('small')],
])('compression handles %s', async (_, handler) => {
  const headers = { 'Accept-Encoding': 'gzip' };

  const response = await request(build(compression(), handler), '/', { headers });
  const expected = await (await request(createApp().use(handler), '/')).text();

  const body = Buffer.from(await response.arrayBuffer());
  const isCompressed = response.headers.get('content-encoding') === 'gzip';
  expect(isCompressed).toBe(expected.length > 1_024);
  expect((isCompressed ? gunzipSync(body) : body).toString()).toBe(expected);
});

test.each<readonly [string, string, Middleware]>([
  ['a whole response', '200 5', (ctx) => ctx.send('hello')],
  ['an empty response', '204 -', (ctx) => ctx.send('')],
  ['an error', '409 ', (ctx) => ctx.throw(409)],
])('morgan logs address, target, status and length of %s', async (_, expected, handler) => {
  const lines: string[] = [];
  const stream = { write: (line: string) => void lines.push(line) };
  const format = ':remote-addr :method :url :status :res[content-length]';

  await request(build(morgan(format, { stream }), handler), '/?a=1');

  const line = `127.0.0.1 GET /?a=1 ${expected}`;
  await expect.poll(() => lines).toEqual([expect.stringContaining(line)]);
});

test('express-session keeps a session, with its cookie in addition to that of the handler', async () => {
  const sessions = session({ secret: 'secret', resave: false, saveUninitialized: true });
  const app = build(sessions, (ctx) => {
    const { session } = ctx.raw.req as IncomingMessage & { session: { visits?: number } };
    session.visits = (session.visits ?? 0) + 1;
    return ctx.set('Set-Cookie', 'own=1').send(`visit ${session.visits}`);
  });

  const first = await request(app, '/');
  const [own, cookie = ''] = first.headers.getSetCookie();
  const second = await request(app, '/', { headers: { Cookie: cookie } });

  expect(own).toBe('own=1');
  expect(cookie).toMatch(/^connect\.sid=/);
  expect([await first.text(), await second.text()]).toEqual(['visit 1', 'visit 2']);
});

test('multer parses fields into ctx.body, and files', async () => {
  const app = build(multer().single('file'), (ctx) => {
    const { file } = ctx.raw.req as IncomingMessage & { file: { buffer: Buffer } };
    return ctx.json({ fields: ctx.body, file: file.buffer.toString() });
  });
  const form = new FormData();
  form.set('name', 'Ada');
  form.set('file', new Blob(['content']), 'a.txt');
  const encoded = new Request('http://a', { method: 'POST', body: form });
  const headers = { 'Content-Type': encoded.headers.get('content-type') ?? '' };
  const body = await encoded.bytes();

  const response = await request(app, '/', { method: 'POST', headers, body });

  expect(await response.json()).toEqual({ fields: { name: 'Ada' }, file: 'content' });
});

test.each<readonly [string, ConnectMiddleware, number]>([
  ['fails: it calls res.status(), which only Express has', limit(), 500],
  ['works in an Express application', express().use(limit()), 429],
])('express-rate-limit %s', async (_, middleware, status) => {
  const app = build(middleware, sendText);

  const responses = [await request(app, '/'), await request(app, '/')];

  expect(responses.map(({ status }) => status)).toEqual([200, status]);
});

function limit() {
  return rateLimit({ limit: 1, validate: false });
}

import type { IncomingMessage } from 'node:http';
import { gunzipSync } from 'node:zlib';

import { type Application, createApp } from '@fw/core';
import { request } from '@fw/core/testing';
import compression from 'compression';
import cors from 'cors';
import { rateLimit } from 'express-rate-limit';
import session from 'express-session';
import helmet from 'helmet';
import morgan from 'morgan';
import multer from 'multer';
import { expect, test } from 'vitest';

import { type ConnectMiddleware, connect } from './connect.ts';

const quiet = { info() {}, warn() {}, error() {} };
const TEXT = 'compressible '.repeat(1_000);

/** What middleware adds to the request of Node. */
interface ParsedRequest extends IncomingMessage {
  readonly body?: { readonly name?: string };
  readonly file?: { readonly buffer: Buffer };
  readonly session?: { visits?: number };
}

/** The text that the route after the middleware sends. */
type Route = (req: ParsedRequest) => string;

/** An application with the middleware before the route. */
function build(middleware: ConnectMiddleware, route: Route): Application {
  return createApp({ logger: quiet })
    .use(connect(middleware))
    .all('/', (ctx) => route(ctx.raw.req as ParsedRequest));
}

interface Package {
  readonly name: string;
  /** Describes what a client, or the program, observes. */
  readonly observe: () => Promise<string>;
  readonly expected: string;
}

const PACKAGES: readonly Package[] = [
  {
    name: 'helmet',
    expected: '12 headers, CSP and HSTS',
    observe: async () => {
      const { headers } = await request(
        build(helmet(), () => 'text'),
        '/',
      );
      const present = ['content-security-policy', 'strict-transport-security', 'x-frame-options'];
      const others = [...headers.keys()].filter((name) =>
        /^(?:x-|cross|referrer|origin)/.test(name),
      );
      return `${others.length + 2} headers, ${present.every((name) => headers.has(name)) ? 'CSP and HSTS' : 'no CSP'}`;
    },
  },
  {
    name: 'cors: preflight',
    expected: '204, GET,HEAD,PUT,PATCH,POST,DELETE',
    observe: async () => {
      const app = build(cors({ origin: 'https://a.example' }), () => 'text');
      const headers = { Origin: 'https://a.example', 'Access-Control-Request-Method': 'PUT' };
      const response = await request(app, '/', { method: 'OPTIONS', headers });
      return `${response.status}, ${response.headers.get('access-control-allow-methods')}`;
    },
  },
  {
    name: 'cors: request',
    expected: '200, https://a.example, Vary: Origin',
    observe: async () => {
      const app = build(cors({ origin: 'https://a.example' }), () => 'text');
      const { status, headers } = await request(app, '/');
      return `${status}, ${headers.get('access-control-allow-origin')}, Vary: ${headers.get('vary')}`;
    },
  },
  {
    name: 'compression',
    expected: 'gzip, same text',
    observe: async () => {
      const app = build(compression(), () => TEXT);
      const response = await request(app, '/', { headers: { 'Accept-Encoding': 'gzip' } });
      const body = Buffer.from(await response.arrayBuffer());
      const isSame = gunzipSync(body).toString() === TEXT;
      return `${response.headers.get('content-encoding')}, ${isSame ? 'same text' : 'other text'}`;
    },
  },
  {
    name: 'morgan',
    expected: '127.0.0.1 GET /?a=1 200 5',
    observe: async () => {
      const lines: string[] = [];
      const stream = { write: (line: string) => void lines.push(line.trim()) };
      const app = build(
        morgan(':remote-addr :method :url :status :res[content-length]', { stream }),
        () => 'hello',
      );
      await request(app, '/?a=1');
      await expect.poll(() => lines).toHaveLength(1);
      return lines.join();
    },
  },
  {
    name: 'express-session',
    expected: 'visit 1 then visit 2',
    observe: async () => {
      const sessions = session({ secret: 'secret', resave: false, saveUninitialized: true });
      const app = build(sessions, (req) => {
        const { session = {} } = req;
        session.visits = (session.visits ?? 0) + 1;
        return `visit ${session.visits}`;
      });
      const first = await request(app, '/');
      const [cookie = ''] = first.headers.getSetCookie();
      const second = await request(app, '/', { headers: { Cookie: cookie } });
      return `${await first.text()} then ${await second.text()}`;
    },
  },
  {
    name: 'multer',
    expected: 'Ada, content',
    observe: async () => {
      const app = build(
        multer().single('file'),
        (req) => `${req.body?.name}, ${req.file?.buffer.toString()}`,
      );
      const form = new FormData();
      form.set('name', 'Ada');
      form.set('file', new Blob(['content']), 'a.txt');
      const encoded = new Request('http://a', { method: 'POST', body: form });
      const headers = { 'Content-Type': encoded.headers.get('content-type') ?? '' };
      const body = await encoded.bytes();
      return (await request(app, '/', { method: 'POST', headers, body })).text();
    },
  },
  {
    name: 'express-rate-limit',
    // It calls res.status(), which only Express has.
    expected: '200 then 500',
    observe: async () => {
      const app = build(rateLimit({ limit: 1, validate: false }), () => 'text');
      const first = await request(app, '/');
      const second = await request(app, '/');
      return `${first.status} then ${second.status}`;
    },
  },
];

test.each(PACKAGES)('connect($name): $expected', async ({ observe, expected }) => {
  expect(await observe()).toBe(expected);
});

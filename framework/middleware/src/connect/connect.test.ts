import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { createApp, onSent } from '@fw/core';
import { openConnection, quiet, recordLog, request } from '@fw/core/testing';
import { errorHandler } from '@fw/errors';
import express, { type RequestHandler } from 'express';
import helmet from 'helmet';
import { describe, expect, test } from 'vitest';
import { exchange, serve } from '../../../core/src/testing/vitest.ts';
import { timeout } from '../timeout.ts';
import { type ConnectMiddleware, connect } from './connect.ts';

type Next = (error?: unknown) => void;
type Connect = (
  req: IncomingMessage & { body?: unknown; originalUrl?: string; ip?: string; protocol?: string },
  res: ServerResponse,
  next: Next,
) => unknown;

const get = (target: string) => `GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`;

/** An application that runs `middleware` after `errorHandler()`, and what it logs. */
function createConnected(middleware: Connect) {
  const { logger, problems } = recordLog();
  const app = createApp({ logger }).use(errorHandler());
  app.use((ctx, next) => {
    ctx.set('X-Before', 'set');
    return next();
  });
  return { app: app.use(connect(middleware)), problems };
}

/** Middleware that looks at the request, or changes the response, and continues. */
const looking = (look: (...[req, res]: Parameters<Connect>) => void) =>
  connect(((req, res, next) => {
    look(req, res, next);
    next();
  }) satisfies Connect);

describe('what the middleware sees', () => {
  test('the request target and the address of the client', async () => {
    const seen: unknown[] = [];
    const app = createApp().use(
      looking((req) => seen.push(req.url, req.originalUrl, req.ip, req.protocol)),
    );

    await request(app, '/a?b=1');

    expect(seen).toEqual(['/a?b=1', '/a?b=1', '127.0.0.1', 'http']);
  });

  test('the path in normal form, also under a prefix, while ctx.url stays as sent', async () => {
    const seen: unknown[] = [];
    const app = createApp().use(
      '/admin',
      looking((req) => seen.push(req.url, req.originalUrl)),
      (ctx) => ctx.send(ctx.url),
    );

    const response = await request(app, '/%61dmin/caf%c3%a9%2f?b=%61');

    expect(seen).toEqual(['/admin/caf%C3%A9%2F?b=%61', '/admin/caf%C3%A9%2F?b=%61']);
    expect(await response.text()).toBe('/%61dmin/caf%c3%a9%2f?b=%61');
  });

  test('the target as sent if it is invalid', async () => {
    const seen: unknown[] = [];
    const outermost = looking((req) => seen.push(req.url));

    expect((await request(createApp({ outermost }), '/a/%2e%2e/b')).status).toBe(400);
    expect(seen).toEqual(['/a/%2e%2e/b']);
  });

  test('the parsed body, and ctx.body is what it replaces it with', async () => {
    const bodies: unknown[] = [];
    const app = createApp()
      .use((ctx, next) => {
        ctx.body = { by: 'fw' };
        return next();
      })
      .use(
        looking((req) => {
          bodies.push(req.body);
          req.body = { by: 'middleware' };
        }),
      )
      .use((ctx) => {
        bodies.push(ctx.body);
        ctx.send('');
      });

    await request(app, '/');

    expect(bodies).toEqual([{ by: 'fw' }, { by: 'middleware' }]);
  });

  test('the headers that were set before, which a later ctx.set replaces', async () => {
    const { app } = createConnected((_req, res, next) => {
      res.setHeader('X-Seen', String(res.getHeader('x-before')));
      res.setHeader('X-Both', 'middleware');
      // Framing headers do not reach the response.
      res.setHeader('Transfer-Encoding', 'chunked');
      res.setHeader('Trailer', 'X-Sum');
      next();
    });
    app.use((ctx) => ctx.set('X-Both', 'handler').send('text'));

    const { headers } = await request(app, '/');

    expect(headers.get('content-length')).toBe('4');
    expect(headers.get('transfer-encoding')).toBeNull();
    expect(headers.get('trailer')).toBeNull();
    expect(headers.get('x-seen')).toBe('set');
    expect(headers.get('x-before')).toBe('set');
    expect(headers.get('x-both')).toBe('handler');
  });
});

describe('middleware that responds itself', () => {
  test('ends the request, with the headers that were set before', async () => {
    const statuses: unknown[] = [];
    const app = createApp().use(async (ctx, next) => {
      onSent(ctx, (status) => statuses.push(status));
      ctx.set('X-Before', 'set');
      await next();
      statuses.push(ctx.status, ctx.responded);
    });
    const teapot: Connect = (_req, res) => res.writeHead(418).end('teapot');
    app.use(connect(teapot)).use((ctx) => ctx.send('never'));

    const response = await request(app, '/');

    expect(response.status).toBe(418);
    expect(response.headers.get('x-before')).toBe('set');
    expect(await response.text()).toBe('teapot');
    expect(statuses).toEqual([418, true, 418]);
  });
});

test.each<readonly [string, (res: ServerResponse, next: Next) => unknown, RegExp]>([
  [
    'responds with an undefined status',
    (res) => Object.assign(res, { statusCode: 700 }).end(),
    /^HTTP\/1\.1 700 /,
  ],
  [
    'sets an undefined status',
    (res, next) => next(void Object.assign(res, { statusCode: 700 })),
    /^HTTP\/1\.1 404 /,
  ],
  [
    'sets a header that only the server may set',
    (res, next) => next(void res.setHeader('Trailer', 'Expires')),
    /^HTTP\/1\.1 404 /,
  ],
])('middleware that %s does not end the process', async (_, change, expected) => {
  const { app } = createConnected((_req, res, next) => void setImmediate(change, res, next));
  const { port } = await serve(app);

  expect(await exchange(port, get('/'))).toMatch(expected);
});

const failure = (message: string, members: object) => Object.assign(new Error(message), members);
const conflict = failure('Conflict', { status: 409, expose: true });
const fail = () => {
  throw conflict;
};

describe('middleware that fails', () => {
  test.each<readonly [string, Connect]>([
    ['passes an error to next()', (_req, _res, next) => next(conflict)],
    ['passes one later', (_req, _res, next) => void setImmediate(next, conflict)],
    ['throws', fail],
    ['rejects', async () => fail()],
  ])('and %s gets the response to this error', async (_, middleware) => {
    const { app } = createConnected((req, res, next) => {
      res.setHeader('ETag', '"of the other response"');
      return middleware(req, res, next);
    });
    app.use((ctx) => ctx.send('never'));

    const response = await request(app, '/');

    expect(response.status).toBe(409);
    expect(response.headers.get('x-before')).toBe('set');
    expect(response.headers.get('etag')).toBeNull();
  });

  test.each<readonly [string, (next: Next) => unknown]>([
    ['throws', fail],
    ['rejects', async () => fail()],
    ['passes an error', (next) => next(conflict)],
  ])('and %s after next() does not change the response', async (_, failLate) => {
    const { app, problems } = createConnected((_req, _res, next) => {
      next();
      return failLate(next);
    });
    app.use((ctx) => ctx.send('sent'));

    const response = await request(app, '/');

    expect(await response.text()).toBe('sent');
    expect(problems).toEqual(['error: GET /: a middleware failed after next()']);
  });
});

test.each(['route', 'router'])('next("%s") continues', async (word) => {
  const { app } = createConnected((_req, _res, next) => next(word));
  app.use((ctx) => ctx.send('sent'));

  expect(await (await request(app, '/')).text()).toBe('sent');
});

interface ExpressResponse extends ServerResponse {
  send(text: string): void;
}

const inExpress = (slow: Connect): Connect => express().use(slow as RequestHandler);

describe('a call after the response of timeout()', () => {
  const LATE =
    'called res.%s() after its response was sent: this has no effect; check res.headersSent before';

  test.each<
    readonly [string, string, (res: ExpressResponse) => unknown, (slow: Connect) => Connect]
  >([
    ['middleware', 'setHeader', (res) => res.setHeader('X-A', '1').end('late'), (slow) => slow],
    ['an Express application (send)', 'setHeader', (res) => res.send('late'), inExpress],
    ['an Express application (end)', 'end', (res) => res.end('late'), inExpress],
  ])('of %s has no effect and logs one warning', async (_, method, call, wrap) => {
    const { logger, problems } = recordLog();
    const called = Promise.withResolvers<void>();
    const slow: Connect = (_req, res) => {
      setTimeout(() => {
        call(res as ExpressResponse);
        call(res as ExpressResponse);
        setImmediate(called.resolve);
      }, 60);
    };
    const app = createApp({ logger }).use(timeout(20), connect(wrap(slow)));
    const { port } = await serve(app);

    const response = await fetch(`http://127.0.0.1:${port}/a?b=1`);
    await called.promise;

    expect(response.status).toBe(503);
    expect(await response.json()).toMatchObject({ status: 503 });
    const warnings = problems.filter((line) => line.startsWith('warn:'));
    expect(warnings).toEqual([`warn: GET /a ${LATE.replace('%s', method)}`]);
  });
});

test('a repeated next() does not run the handler again', async () => {
  let runs = 0;
  const { app } = createConnected((_req, _res, next) => {
    next();
    next();
  });
  app.use((ctx) => ctx.send(`run ${++runs}`));

  expect(await (await request(app, '/')).text()).toBe('run 1');
});

test('middleware that never calls next() is released when the client disconnects', async () => {
  const reached = Promise.withResolvers<void>();
  const sent = Promise.withResolvers<number>();
  const app = createApp({ logger: quiet })
    .use((ctx, next) => {
      onSent(ctx, sent.resolve);
      return next();
    })
    .use(connect(() => reached.resolve()));
  const connection = openConnection((await serve(app)).port).send(get('/'));
  await reached.promise;

  connection.close();

  expect(await sent.promise).toBe(499);
});

describe('AsyncLocalStorage', () => {
  test('a store that the middleware enters around next() is there for the handler', async () => {
    const storage = new AsyncLocalStorage<string>();
    const { app } = createConnected((_req, _res, next) => storage.run('entered', next));
    app.use((ctx) => ctx.send(String(storage.getStore())));

    expect(await (await request(app, '/')).text()).toBe('entered');
  });

  test('the store of the request is there after next() from an event of the body', async () => {
    const storage = new AsyncLocalStorage<string>();
    const app = createApp()
      .use((_ctx, next) => storage.run('request', next))
      .use(
        connect(((req, _res, next) => {
          once(req.resume(), 'end').then(() => next());
        }) satisfies Connect),
      )
      .use((ctx) => ctx.send(String(storage.getStore())));

    const response = await request(app, '/', { method: 'POST', body: 'x' });

    expect(await response.text()).toBe('request');
  });
});

test('headers of helmet and of two other middleware are sent together', async () => {
  const vary: Connect = (_req, res, next) => {
    res.setHeader('Vary', [res.getHeader('vary'), 'Origin'].filter(Boolean).join(', '));
    next();
  };
  const { app } = createConnected(helmet());
  app.use(connect(vary)).use((ctx) => ctx.append('Vary', 'Accept').json({}));

  const { headers } = await request(app, '/');

  expect(headers.get('content-security-policy')).toContain("default-src 'self'");
  expect(headers.get('vary')).toBe('Origin, Accept');
});

test('a whole Express application serves its routes and errors, and fw all others', async () => {
  const old = express()
    .use(express.json())
    .get('/old/:id', (req, res) => {
      res.status(201).json({ id: req.params.id, ip: Reflect.get(req, 'ip') });
    })
    .post('/old', (req, res) => {
      res.json({ created: req.body });
    })
    .get('/fails', () => {
      throw new Error('express');
    });
  const app = createApp({ logger: quiet, trustProxy: 1 }).use(errorHandler(), connect(old));
  app.get('/new', () => 'new').post('/new', (ctx) => ctx.json(ctx.body));
  const headers = { 'Content-Type': 'application/json', 'X-Forwarded-For': '192.0.2.1' };
  const posted = { method: 'POST', headers, body: '{"name":"Ada"}' };

  const read = await request(app, '/old/7', { headers });

  expect(read.status).toBe(201);
  expect(await read.json()).toEqual({ id: '7', ip: '192.0.2.1' });
  expect(await (await request(app, '/old', posted)).json()).toEqual({ created: { name: 'Ada' } });
  expect(await (await request(app, '/new', posted)).json()).toEqual({ name: 'Ada' });
  expect(await (await request(app, '/new')).text()).toBe('new');
  expect((await request(app, '/fails')).headers.get('content-type')).toBe(
    'application/problem+json',
  );
  expect((await request(app, '/unknown')).status).toBe(404);
});

const BOTH = ['192.0.2.1', '2001:db8::2'];
const INNER = { hostname: 'inner', host: 'inner:80', protocol: 'http', secure: false };
const OUTER = { hostname: 'outer', host: 'outer:8443', protocol: 'https', secure: true };

test.each<[number, string, object]>([
  [0, '192.0.2.1, 192.0.2.2', { ip: '127.0.0.1', ips: [], ...INNER }],
  [1, 'evil, 192.0.2.2', { ip: '192.0.2.2', ips: ['192.0.2.2'], ...OUTER }],
  [2, '192.0.2.1, [2001:db8::2]:443', { ip: BOTH[0], ips: BOTH, ...OUTER }],
  [3, '192.0.2.2', { ip: '192.0.2.2', ips: ['192.0.2.2'], ...OUTER }],
  [2, 'evil, 192.0.2.2', { ip: '192.0.2.2', ips: ['192.0.2.2'] }],
])(
  'the address and host in Express follow trustProxy: %i of fw, not trust proxy of Express',
  async (trustProxy, forwardedFor, expected) => {
    for (const trusted of [false, true, 1]) {
      const old = express()
        .set('trust proxy', trusted)
        .use(({ ip, ips, host, hostname, protocol, secure }, res) => {
          res.json({ ip, ips, host, hostname, protocol, secure });
        });
      const app = createApp({ trustProxy }).use(connect(old));

      const response = await request(app, '/', {
        headers: {
          ...{ Host: 'inner:80', 'X-Forwarded-For': forwardedFor },
          ...{ 'X-Forwarded-Host': 'outer:8443', 'X-Forwarded-Proto': 'https' },
        },
      });

      expect(await response.json()).toMatchObject(expected);
    }
  },
);

const unreadable = Object.defineProperty(new Error('secret'), 'status', {
  get: () => expect.unreachable(),
});

test.each<[string, unknown, number, string]>([
  ['status', { status: 404 }, 404, 'Not Found'],
  ['statusCode', { statusCode: 410 }, 410, 'Gone'],
  ['an invalid status', { status: 200, statusCode: 422 }, 422, 'Unprocessable Content'],
  ['a message', failure('secret', { status: 403 }), 403, 'Forbidden'],
  ['an exposed message', failure('no pet', { status: 404, expose: true }), 404, 'no pet'],
  ['a hidden message', failure('secret', { status: 404, expose: false }), 404, 'Not Found'],
  ['a 5xx', failure('secret', { status: 503 }), 503, 'Service Unavailable'],
  ['a text as status', { status: '404' }, 500, 'Internal Server Error'],
  ['no status', new Error('secret'), 500, 'Internal Server Error'],
  ['a status that cannot be read', unreadable, 500, 'Internal Server Error'],
])('an error of Express with %s has its status', async (_, error, status, detail) => {
  const old = express().get('/next', (_req, _res, next) => next(error));
  old.get('/rejects', async () => {
    throw error;
  });
  const app = createApp({ logger: quiet }).use(errorHandler(), connect(old));

  for (const path of ['/next', '/rejects']) {
    const response = await request(app, path);

    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ status, detail });
  }
});

test('an error of Express without a status has that of the response, and its own headers', async () => {
  const old = express().use((_req, res, next) => {
    res.status(403);
    next(failure('secret', { headers: { 'Retry-After': '7' } }));
  });
  const app = createApp({ logger: quiet }).use(errorHandler(), connect(old));

  const response = await request(app, '/');

  expect(response.status).toBe(403);
  expect(response.headers.get('retry-after')).toBe('7');
});

const forbid: RequestHandler = (_req, res) => void res.status(403).end();

describe.each<readonly [string, ConnectMiddleware]>([
  ['use()', express().use('/admin', forbid)],
  ['all()', express().all('/admin/users', forbid)],
  ['a parameter', express().all('/:area/users', forbid)],
  ['a router', express().use('/admin', express.Router().all('/users', forbid))],
  [
    'a comparison',
    ((req, res, next) => {
      if (/^\/admin\b/i.test(req.url ?? '')) res.writeHead(403).end();
      else next();
    }) satisfies Connect,
  ],
])('a guard of Express with %s', (_, guard) => {
  const path = '/admin/users';
  const spellings = [...path].flatMap((letter, at) => {
    const escaped = `%${letter.charCodeAt(0).toString(16)}`;
    return [escaped, escaped.toUpperCase()].map(
      (text) => path.slice(0, at) + text + path.slice(at + 1),
    );
  });

  test('runs for each spelling of a path that fw routes', async () => {
    const app = createApp().use(connect(guard));
    app.get(path, () => 'secret');
    const { port } = await serve(app);
    const targets = [
      ...spellings,
      ...['//admin/users', '/admin//users', '/ADMIN/users', '/admin/users/', '/%61dmin/users?a'],
      ...['http://a/%61dmin/users', 'HTTP://a/admin/%75sers?b', '/admin/users?/../x'],
    ];

    const bodies = await Promise.all(targets.map((target) => exchange(port, get(target))));

    expect(targets.filter((_target, at) => bodies[at]?.includes('secret'))).toEqual([]);
    expect(bodies.filter((text) => text.includes(' 403 ')).length).toBeGreaterThan(20);
  });
});

import { readFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { WebSocketServer } from 'ws';

import type { Contestant, Route } from '../contestant.ts';
import {
  FILES,
  ITEMS,
  MIDDLEWARES,
  parseUser,
  RESOURCES,
  ROOT_FOLDER,
  readUser,
} from '../http/workloads.ts';
import { countBytes, type Work } from '../work.ts';

const BODY_LIMIT_BYTES = 1024 ** 2;

const LISTENERS: Partial<Record<Route, (work: Work) => RequestListener>> = {
  hello: () => (req, res) => {
    if (req.method !== 'GET' || pathOf(req.url) !== '/') return notFound(res);
    send(res, 200, { hello: 'world' });
  },

  parameter: () => {
    const resources = new Map(RESOURCES.map((resource) => [`/api/v1/${resource}/`, resource]));
    return (req, res) => {
      const path = pathOf(req.url);
      const cut = path.lastIndexOf('/') + 1;
      const resource = resources.get(path.slice(0, cut));
      const id = decode(path.slice(cut));
      if (req.method !== 'GET' || !resource || !id) return notFound(res);
      send(res, 200, { resource, id });
    };
  },

  post: () => posted(readUser),

  list: () => (req, res) => {
    if (req.method !== 'GET' || pathOf(req.url) !== '/items') return notFound(res);
    send(res, 200, { data: ITEMS });
  },

  middlewares: () => {
    const steps = Array.from({ length: MIDDLEWARES }, () => (state: { count: number }) => {
      state.count += 1;
    });
    return (req, res) => {
      const state = { count: 0 };
      for (const step of steps) step(state);
      if (req.method !== 'GET' || pathOf(req.url) !== '/') return notFound(res);
      send(res, 200, { count: state.count });
    };
  },

  upload: () => async (req, res) => {
    if (req.method !== 'POST' || pathOf(req.url) !== '/upload') return notFound(res);
    send(res, 200, { bytes: await countBytes(req) });
  },

  static: () => {
    const files = new Set(FILES);
    return async (req, res) => {
      const path = pathOf(req.url);
      if (req.method !== 'GET' || !files.has(path)) return notFound(res);
      const body = await readFile(join(ROOT_FOLDER, path));
      const headers = { 'Content-Type': 'application/json', 'Content-Length': body.length };
      res.writeHead(200, headers).end(body);
    };
  },

  events:
    ({ repeat }) =>
    (_req, res) => {
      res.writeHead(200, { 'Content-Type': 'text/event-stream' });
      res.on(
        'close',
        repeat(() => res.write('data: tick\n\n')),
      );
    },

  websocket: () => (_req, res) => notFound(res),

  validated: () => posted(parseUser),
};

function posted(read: typeof readUser): RequestListener {
  return (req, res) => {
    if (req.method !== 'POST' || pathOf(req.url) !== '/users') return notFound(res);
    const chunks: Buffer[] = [];
    let bytes = 0;
    req.on('data', (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= BODY_LIMIT_BYTES) chunks.push(chunk);
    });
    req.on('end', () => {
      if (bytes > BODY_LIMIT_BYTES) return send(res, 413, { error: 'Too large' });
      const user = read(parse(Buffer.concat(chunks).toString()));
      if (!user) return send(res, 400, { error: 'Not a user' });
      send(res, 201, { data: user });
    });
  };
}

/** The path of a route that is served beside others. */
const PATHS: Partial<Record<Route, string>> = { list: '/items', post: '/users', events: '/events' };

/** `node:http` with default options and a handwritten handler; ws for WebSockets. */
export const contestant: Contestant = {
  packages: ['zod', 'ws'],
  routes: Object.keys(LISTENERS) as Route[],
  start([first = 'hello', ...others], work) {
    const listener = LISTENERS[first]?.(work) ?? ((_req, res) => notFound(res));
    const byPath = new Map(others.map((route) => [PATHS[route], LISTENERS[route]?.(work)]));
    const server = createServer(
      others.length === 0 ? listener : (req, res) => (byPath.get(req.url) ?? listener)(req, res),
    );
    if (first === 'websocket') echo(server, work);
    return server;
  },
};

function echo(server: Server, { opened, closed }: Work): void {
  new WebSocketServer({ server }).on('connection', (socket) => {
    opened();
    socket.on('close', closed).on('message', (data) => socket.send(String(data)));
  });
}

/** Sends a value as JSON. */
export function send(res: ServerResponse, status: number, value: unknown): void {
  const body = JSON.stringify(value);
  res.writeHead(status, {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
  });
  res.end(body);
}

function notFound(res: ServerResponse): void {
  send(res, 404, { error: 'Not found' });
}

function pathOf(url = '/'): string {
  const query = url.indexOf('?');
  return query < 0 ? url : url.slice(0, query);
}

function decode(segment: string): string | undefined {
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

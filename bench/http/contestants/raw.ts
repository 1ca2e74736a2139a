import { createServer, type RequestListener, type ServerResponse } from 'node:http';

import { type Contestant, listenOnFreePort } from '../contestant.ts';
import {
  ITEMS,
  MIDDLEWARES,
  RESOURCES,
  readUser,
  type User,
  UserSchema,
  WORKLOADS,
  type Workload,
} from '../workloads.ts';

const BODY_LIMIT_BYTES = 1024 ** 2;

const handlers: Partial<Record<Workload, () => RequestListener>> = {
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

  validated: () => posted((body) => UserSchema.safeParse(body).data),
};

function posted(readUser: (body: unknown) => User | undefined): RequestListener {
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
      const user = readUser(parse(Buffer.concat(chunks).toString()));
      if (!user) return send(res, 400, { error: 'Not a user' });
      send(res, 201, { data: user });
    });
  };
}

/** `node:http` with default options and a handwritten handler. */
export const contestant: Contestant = {
  packages: ['zod'],
  workloads: WORKLOADS.filter((workload) => workload in handlers),
  start: (workload) => listenOnFreePort(createServer(handlers[workload]?.())),
};

function send(res: ServerResponse, status: number, value: unknown): void {
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
